#include "kernels/top_k/launch.cuh"

GPU_SIMILARITY_INSTANTIATE_TOP_K(float)
