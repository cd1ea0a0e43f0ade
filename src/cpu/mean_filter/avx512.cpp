#define GPU_SIMILARITY_LEVEL avx512
#define GPU_SIMILARITY_VECTOR_BYTES 64
#include "cpu/mean_filter/body.hpp"
