#define GPU_SIMILARITY_LEVEL avx512
#include "cpu/top_k_scan_loop.hpp"
