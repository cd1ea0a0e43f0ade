#define GPU_SIMILARITY_LEVEL avx2
#include "cpu/top_k/scan_loop.hpp"
