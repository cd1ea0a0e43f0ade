#define GPU_SIMILARITY_LEVEL baseline
#include "cpu/top_k_scan_loop.hpp"
