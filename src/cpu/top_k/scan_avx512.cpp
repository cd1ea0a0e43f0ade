#define GPU_SIMILARITY_LEVEL avx512
#include "cpu/top_k/scan_loop.hpp"
