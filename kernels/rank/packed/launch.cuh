#pragma once
// The launch of a kernel that counts short rows.

#include "kernels/common/launch.cuh"
#include "kernels/rank/count_packed.cuh"
#include "kernels/rank/launches.cuh"

namespace gpu::kernels {

template <int Cols>
void launch_count_packed_of(const rank_source& source, const rank_target& target,
                            cudaStream_t stream) {
  using layout = packed_layout<Cols, rank_packed_threads>;
  count_packed_kernel<layout>
      <<<grid_blocks(source.rows, 2 * layout::slots), layout::threads, 0, stream>>>(source, target);
  GPU_SIMILARITY_CHECK_LAUNCH();
}

}  // namespace gpu::kernels
