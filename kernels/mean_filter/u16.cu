#include "kernels/mean_filter/launch.cuh"

namespace gpu::kernels {
GPU_SIMILARITY_INSTANTIATE_MEAN_FILTER(std::uint16_t, std::uint16_t)
GPU_SIMILARITY_INSTANTIATE_MEAN_FILTER(std::uint16_t, double)
}  // namespace gpu::kernels
