#include "kernels/mean_filter/launch.cuh"

namespace gpu::kernels {
GPU_SIMILARITY_INSTANTIATE_MEAN_FILTER(float, double)
}  // namespace gpu::kernels
