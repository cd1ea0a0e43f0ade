#include "kernels/rank/block_sort.cuh"
#include "kernels/rank/launches.cuh"

namespace gpu::kernels {

void launch_block_sort_32(const rank_source& source, const rank_target& target, tie_method ties,
                          cudaStream_t stream) {
  launch_block_sort<std::uint32_t>(source, target, ties, stream);
}

}  // namespace gpu::kernels
