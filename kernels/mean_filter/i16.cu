#include "kernels/mean_filter/launch.cuh"

namespace gpu::kernels {
GPU_SIMILARITY_INSTANTIATE_MEAN_FILTER(std::int16_t, std::int16_t)
GPU_SIMILARITY_INSTANTIATE_MEAN_FILTER(std::int16_t, double)
}  // namespace gpu::kernels
