// Kept pairs from a matrix of statistics, in its order, by one launch: a block looks at its places,
// says how many it keeps, and adds up what the blocks before it said.

#include "kernels/common/launch.cuh"
#include "kernels/common/warp.cuh"
#include "kernels/pairs/edges/kernels.hpp"

namespace gpu::kernels {
namespace {

constexpr int threads = 256;
constexpr int warps = threads / 32;
constexpr int rounds = 8;  // places of a thread, `threads` apart
constexpr index_t places_of_block = threads * rounds;

// The sum of one value a thread, for all of them.
__device__ std::uint32_t block_sum(std::uint32_t value) {
  __shared__ std::uint32_t sums[warps];
  value = warp_sum(value);
  if (threadIdx.x % 32 == 0) sums[threadIdx.x / 32] = value;
  __syncthreads();
  std::uint32_t sum = 0;
  for (const std::uint32_t of_warp : sums) sum += of_warp;
  return sum;
}

__global__ void select_edges(const statistic_matrix from, const detail::keep_range keep,
                             const stats::p_function p_of, const selected_edges to) {
  __shared__ std::uint32_t kept_by[rounds][warps];
  const auto places = static_cast<std::uint32_t>(from.rows * from.cols);
  const auto cols = static_cast<std::uint32_t>(from.cols);
  const auto first = static_cast<std::uint32_t>(blockIdx.x * places_of_block);
  const unsigned lane = threadIdx.x % 32;
  const unsigned warp = threadIdx.x / 32;
  double statistics[rounds];
  unsigned before[rounds];  // kept by lanes of the warp before this one
  bool kept[rounds];
#pragma unroll
  for (int round = 0; round < rounds; ++round) {
    const std::uint32_t at = first + static_cast<std::uint32_t>(round * threads) + threadIdx.x;
    const index_t row = from.first_row + at / cols;
    const index_t col = from.first_col + at % cols;
    kept[round] = at < places && row < col;
    statistics[round] = kept[round] ? from.statistics[at] : 0;
    kept[round] = kept[round] && keep.keeps(statistics[round]);
    const unsigned lanes = __ballot_sync(all_lanes, kept[round]);
    before[round] = __popc(lanes & ((1U << lane) - 1));
    if (lane == 0) kept_by[round][warp] = __popc(lanes);
  }
  __syncthreads();
  std::uint32_t own = 0;
  for (const auto& of_round : kept_by) {
    for (const std::uint32_t of_warp : of_round) own += of_warp;
  }
  // Blocks begin in the order of their numbers, and say their own number before they wait. Zero is
  // no answer yet.
  if (threadIdx.x == 0) atomicExch(to.kept_by_block + blockIdx.x, own + 1);
  std::uint32_t earlier = 0;
  for (unsigned block = threadIdx.x; block < blockIdx.x; block += threads) {
    std::uint32_t said = 0;
    while ((said = *static_cast<volatile std::uint32_t*>(to.kept_by_block + block)) == 0) {
    }
    earlier += said - 1;
  }
  earlier = block_sum(earlier);
  if (blockIdx.x + 1 == gridDim.x && threadIdx.x == 0) *to.found = earlier + own;
  std::uint32_t place = earlier;
#pragma unroll
  for (int round = 0; round < rounds; ++round) {
    for (unsigned w = 0; w < warps; ++w) {
      const std::uint64_t out = place + before[round];
      if (w == warp && kept[round] && out < to.capacity) {
        const std::uint32_t at = first + static_cast<std::uint32_t>(round * threads) + threadIdx.x;
        to.edges[out] = {.row = static_cast<std::uint32_t>(from.first_row) + at / cols,
                         .col = at % cols,
                         .statistic = statistics[round],
                         .p = p_of.table == nullptr ? 0.0 : p_of(statistics[round])};
      }
      place += kept_by[round][w];
    }
  }
}

}  // namespace

index_t select_blocks(index_t places) {
  return ceil_div(places, places_of_block);
}

void launch_select_edges(const statistic_matrix& from, const detail::keep_range& keep,
                         const stats::p_function& p_of, const selected_edges& to,
                         cudaStream_t stream) {
  const index_t blocks = select_blocks(from.rows * from.cols);
  if (blocks == 0) return;
  select_edges<<<static_cast<unsigned>(blocks), threads, 0, stream>>>(from, keep, p_of, to);
  GPU_SIMILARITY_CHECK_LAUNCH();
}

}  // namespace gpu::kernels
