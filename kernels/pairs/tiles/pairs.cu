// From the kind of tile at run time to the launches of its .cu file; and the exact decisions.

#include "kernels/common/launch.cuh"
#include "kernels/pairs/frame/statistic.cuh"
#include "kernels/pairs/tiles/launches.hpp"

namespace gpu::kernels {

template <class Sink>
void launch_pairs(pair_tile_kind tile, const pair_panel& panel, const Sink& sink,
                  cudaStream_t stream) {
  switch (tile) {
    case pair_tile_kind::naive_spearman:
      return launch_tile<pair_tile_kind::naive_spearman>(panel, sink, stream);
    case pair_tile_kind::naive_pearson:
      return launch_tile<pair_tile_kind::naive_pearson>(panel, sink, stream);
    case pair_tile_kind::shared_int8:
      return launch_tile<pair_tile_kind::shared_int8>(panel, sink, stream);
    case pair_tile_kind::shared_int16:
      return launch_tile<pair_tile_kind::shared_int16>(panel, sink, stream);
    case pair_tile_kind::shared_int32:
      return launch_tile<pair_tile_kind::shared_int32>(panel, sink, stream);
    case pair_tile_kind::shared_double:
      return launch_tile<pair_tile_kind::shared_double>(panel, sink, stream);
    case pair_tile_kind::tensor_int8:
      return launch_tile<pair_tile_kind::tensor_int8>(panel, sink, stream);
    case pair_tile_kind::tensor_limbs:
      return launch_tile<pair_tile_kind::tensor_limbs>(panel, sink, stream);
    case pair_tile_kind::tensor_float:
      return launch_tile<pair_tile_kind::tensor_float>(panel, sink, stream);
  }
}

template void launch_pairs(pair_tile_kind, const pair_panel&, const candidate_sink_args&,
                           cudaStream_t);
template void launch_pairs(pair_tile_kind, const pair_panel&, const count_sink_args&, cudaStream_t);
template void launch_pairs(pair_tile_kind, const pair_panel&, const bin_sink_args&, cudaStream_t);
template void launch_pairs(pair_tile_kind, const pair_panel&, const dense_sink_args&, cudaStream_t);

namespace {

constexpr int finish_threads = 256;

// One candidate a thread.
template <class Statistic>
__global__ void finish_candidates(const __grid_constant__ finish_request request) {
  const std::uint64_t at = std::uint64_t{blockIdx.x} * finish_threads + threadIdx.x;
  bool kept = false;
  if (at < request.count) {
    const std::uint64_t key = request.keys[at];
    const auto row = static_cast<std::uint32_t>(key >> 32);
    const auto col = static_cast<std::uint32_t>(key & 0xffffffffu);
    const index_t i = row - request.rows.first;
    const index_t j = col - request.cols.first;
    const auto product = product_from_bits<typename Statistic::product>(request.values[at]);
    const double statistic = Statistic::of(product, request.rows, i, request.cols, j);
    kept = keeps(statistic, request.at_least, request.at_most);
    request.values[at] = product_bits(statistic);
    request.keys[at] = kept ? request.layout.of(row, col) : request.layout.dropped();
  }
  const int in_block = __syncthreads_count(kept);
  if (threadIdx.x == 0 && in_block > 0) {
    atomicAdd(request.kept, static_cast<unsigned long long>(in_block));
  }
}

}  // namespace

void launch_finish_candidates(const finish_request& request, cudaStream_t stream) {
  if (request.count == 0) return;
  const unsigned blocks = grid_blocks(static_cast<index_t>(request.count), finish_threads);
  switch (request.tile) {
    case pair_tile_kind::naive_pearson:
    case pair_tile_kind::shared_double:
      finish_candidates<pearson_statistic><<<blocks, finish_threads, 0, stream>>>(request);
      break;
    case pair_tile_kind::tensor_float:
      finish_candidates<refined_pearson_statistic><<<blocks, finish_threads, 0, stream>>>(request);
      break;
    default:
      finish_candidates<spearman_statistic><<<blocks, finish_threads, 0, stream>>>(request);
  }
  GPU_SIMILARITY_CHECK_LAUNCH();
}

}  // namespace gpu::kernels
