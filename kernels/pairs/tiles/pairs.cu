// From the kind of tile at run time to the launches of its .cu file; and the exact decisions.

#include <stdexcept>
#include <type_traits>

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
    case pair_tile_kind::tensor_half:
      if constexpr (std::is_same_v<Sink, candidate_sink_args>) {
        return launch_tile<pair_tile_kind::tensor_half>(panel, sink, stream);
      }
      throw std::logic_error("tensor_half: estimates do for candidates alone");
  }
}

template void launch_pairs(pair_tile_kind, const pair_panel&, const candidate_sink_args&,
                           cudaStream_t);
template void launch_pairs(pair_tile_kind, const pair_panel&, const count_sink_args&, cudaStream_t);
template void launch_pairs(pair_tile_kind, const pair_panel&, const bin_sink_args&, cudaStream_t);
template void launch_pairs(pair_tile_kind, const pair_panel&, const dense_sink_args&, cudaStream_t);

namespace {

constexpr int finish_threads = 256;

struct candidate {
  std::uint32_t row;
  std::uint32_t col;
};

__device__ candidate candidate_of(std::uint64_t key) {
  return {static_cast<std::uint32_t>(key >> 32), static_cast<std::uint32_t>(key & 0xffffffffu)};
}

// Writes what the statistic of candidate `at` says. All threads of a block come here.
__device__ void write_decision(const finish_request& request, std::uint64_t at,
                               const candidate& pair, double statistic) {
  const bool kept = at < request.count && keeps(statistic, request.at_least, request.at_most);
  if (at < request.count) {
    request.values[at] = product_bits(statistic);
    request.keys[at] = kept ? request.layout.of(pair.row, pair.col) : request.layout.dropped();
  }
  const int in_block = __syncthreads_count(kept);
  if (threadIdx.x == 0 && in_block > 0) {
    atomicAdd(request.kept, static_cast<unsigned long long>(in_block));
  }
}

// One candidate a thread: the statistic follows from its product.
template <class Statistic>
__global__ void finish_candidates(const __grid_constant__ finish_request request) {
  const std::uint64_t at = std::uint64_t{blockIdx.x} * finish_threads + threadIdx.x;
  candidate pair{};
  double statistic = 0;
  if (at < request.count) {
    pair = candidate_of(request.keys[at]);
    const auto product = product_from_bits<typename Statistic::product>(request.values[at]);
    statistic = Statistic::of(product, request.rows, pair.row - request.rows.first, request.cols,
                              pair.col - request.cols.first);
  }
  write_decision(request, at, pair, statistic);
}

// Pearson's r of 32 candidates a warp, anew from the unit rows, four at a time.
__global__ void finish_refined_candidates(const __grid_constant__ finish_request request) {
  constexpr int sums = detail::partial_sums;
  constexpr int pairs_at_a_time = 32 / sums;
  constexpr unsigned everyone = 0xffffffffu;
  const std::uint64_t at = std::uint64_t{blockIdx.x} * finish_threads + threadIdx.x;
  const int lane = static_cast<int>(threadIdx.x % 32);
  // Lanes without a candidate help with the first pair of rows.
  candidate pair{static_cast<std::uint32_t>(request.rows.first),
                 static_cast<std::uint32_t>(request.cols.first)};
  if (at < request.count) pair = candidate_of(request.keys[at]);
  const auto segment = static_cast<int>(request.rows.unit_pitch / sums);
  double statistic = 0;
  for (int first = 0; first < 32; first += pairs_at_a_time) {
    const int of = first + lane / sums;
    const index_t i = __shfl_sync(everyone, pair.row, of) - request.rows.first;
    const index_t j = __shfl_sync(everyone, pair.col, of) - request.cols.first;
    const double dot =
        unit_row_dot_by_lanes(request.rows.unit_rows + i * request.rows.unit_pitch,
                              request.cols.unit_rows + j * request.cols.unit_pitch, segment);
    const double total = __shfl_sync(everyone, dot, lane % pairs_at_a_time * sums);
    if (lane - first >= 0 && lane - first < pairs_at_a_time) statistic = total;
  }
  write_decision(request, at, pair, detail::clip_correlation(statistic));
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
    case pair_tile_kind::tensor_half:
      finish_refined_candidates<<<blocks, finish_threads, 0, stream>>>(request);
      break;
    default:
      finish_candidates<spearman_statistic><<<blocks, finish_threads, 0, stream>>>(request);
  }
  GPU_SIMILARITY_CHECK_LAUNCH();
}

}  // namespace gpu::kernels
