#define GPU_SIMILARITY_LEVEL avx2
#define GPU_SIMILARITY_VECTOR_BYTES 32
#include "cpu/rank/counting_body.hpp"
