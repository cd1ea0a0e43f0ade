#define GPU_SIMILARITY_LEVEL baseline
#include "cpu/top_k/scan_loop.hpp"
