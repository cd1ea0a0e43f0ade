#define GPU_SIMILARITY_LEVEL baseline
#define GPU_SIMILARITY_VECTOR_BYTES 16
#include "cpu/rank/counting_body.hpp"
