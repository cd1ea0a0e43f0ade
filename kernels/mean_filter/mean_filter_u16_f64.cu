#include "mean_filter/mean_filter_launch.cuh"

namespace gpu::kernels {
GPU_SIMILARITY_INSTANTIATE_MEAN_FILTER(std::uint16_t, double)
}  // namespace gpu::kernels
