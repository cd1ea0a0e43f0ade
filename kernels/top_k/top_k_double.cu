#include "top_k/top_k_launch.cuh"

GPU_SIMILARITY_INSTANTIATE_TOP_K(double)
