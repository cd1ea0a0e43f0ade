#include "kernels/mean_filter/launch.cuh"

namespace gpu::kernels {
GPU_SIMILARITY_INSTANTIATE_MEAN_FILTER(std::uint8_t, std::uint8_t)
GPU_SIMILARITY_INSTANTIATE_MEAN_FILTER(std::uint8_t, double)
}  // namespace gpu::kernels
