#include "kernels/mean_filter/launch.cuh"

namespace gpu::kernels {
GPU_SIMILARITY_INSTANTIATE_MEAN_FILTER(std::int8_t, std::int8_t)
GPU_SIMILARITY_INSTANTIATE_MEAN_FILTER(std::int8_t, double)
}  // namespace gpu::kernels
