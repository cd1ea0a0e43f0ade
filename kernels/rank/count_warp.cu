#include "kernels/rank/count_warp.cuh"

#include "kernels/common/launch.cuh"
#include "kernels/rank/launches.cuh"

namespace gpu::kernels {
namespace {

template <class Key, count_kind Kind>
__global__ __launch_bounds__(rank_warp_threads) void count_warp_kernel(rank_source source,
                                                                       rank_target target,
                                                                       tie_method ties) {
  constexpr int warps = rank_warp_threads / 32;
  __shared__ Key keys[warps][rank_counting_max_cols];
  const int warp = static_cast<int>(threadIdx.x / 32);
  for (index_t row = index_t{blockIdx.x} * warps + warp; row < source.rows;
       row += index_t{gridDim.x} * warps) {
    count_row<Key, Kind>(source, target, ties, row, keys[warp]);
  }
}

template <class Key>
void launch_for(const rank_source& source, const rank_target& target, tie_method ties,
                cudaStream_t stream) {
  const unsigned blocks = grid_blocks(source.rows, rank_warp_threads / 32);
  switch (kind_of(ties)) {
    case count_kind::order:
      count_warp_kernel<Key, count_kind::order>
          <<<blocks, rank_warp_threads, 0, stream>>>(source, target, ties);
      break;
    case count_kind::ordinal:
      count_warp_kernel<Key, count_kind::ordinal>
          <<<blocks, rank_warp_threads, 0, stream>>>(source, target, ties);
      break;
    case count_kind::dense:
      count_warp_kernel<Key, count_kind::dense>
          <<<blocks, rank_warp_threads, 0, stream>>>(source, target, ties);
      break;
  }
  GPU_SIMILARITY_CHECK_LAUNCH();
}

}  // namespace

void launch_count_warp(const rank_source& source, const rank_target& target, tie_method ties,
                       cudaStream_t stream) {
  if (source.tag == element_tag::f64) {
    launch_for<std::uint64_t>(source, target, ties, stream);
  } else {
    launch_for<std::uint32_t>(source, target, ties, stream);
  }
}

}  // namespace gpu::kernels
