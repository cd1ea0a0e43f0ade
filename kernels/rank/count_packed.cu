#include "kernels/rank/count_packed.cuh"

#include "kernels/common/launch.cuh"
#include "kernels/rank/launches.cuh"

namespace gpu::kernels {
namespace {

template <std::size_t Size = 0>
void launch_for(const row_source& source, const rank_target& target, cudaStream_t stream) {
  constexpr int cols = rank_packed_cols[Size];
  if constexpr (Size + 1 < rank_packed_cols.size()) {
    if (source.cols > cols) return launch_for<Size + 1>(source, target, stream);
  }
  using layout = packed_layout<cols, rank_packed_threads>;
  count_packed_kernel<layout>
      <<<grid_blocks(source.rows, 2 * layout::slots), layout::threads, 0, stream>>>(source, target);
  GPU_SIMILARITY_CHECK_LAUNCH();
}

}  // namespace

void launch_count_packed(const row_source& source, const rank_target& target, cudaStream_t stream) {
  launch_for(source, target, stream);
}

}  // namespace gpu::kernels
