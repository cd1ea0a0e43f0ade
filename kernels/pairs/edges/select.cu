// Kept pairs from a matrix of statistics, in its order, by one launch: a block looks at its places,
// says how many it keeps, and looks back at what the blocks before it said.

#include "kernels/common/launch.cuh"
#include "kernels/common/warp.cuh"
#include "kernels/pairs/edges/kernels.hpp"

namespace gpu::kernels {
namespace {

constexpr int threads = 256;
constexpr int warps = threads / 32;
// All blocks of a large device run at once, so that none waits for one that has not begun.
constexpr index_t most_blocks = 512;
constexpr index_t least_places = 256;  // of a warp

// The places in a row that a warp looks at.
index_t places_of_warp(index_t places) {
  const index_t share = ceil_div(places, most_blocks * warps);
  return round_up(share < least_places ? least_places : share, index_t{32});
}

// What a block says is a number times 4, plus what it is the number of. Zero is no answer yet.
constexpr std::uint32_t of_block = 1;
constexpr std::uint32_t up_to_block = 2;

// The sum of what the blocks before this one keep. All lanes of one warp call: they read a window
// of blocks at a time, back to one that says its sum.
__device__ std::uint32_t kept_before(const std::uint32_t* said_by_block) {
  constexpr int reads = 8;  // of a lane, at once
  const auto* const said_by = static_cast<const volatile std::uint32_t*>(said_by_block);
  std::uint32_t sum = 0;
  for (int last = static_cast<int>(blockIdx.x) - 1 - static_cast<int>(threadIdx.x % 32);;
       last -= 32 * reads) {
    std::uint32_t said[reads];
#pragma unroll
    for (int i = 0; i < reads; ++i) {
      said[i] = last - 32 * i < 0 ? up_to_block : said_by[last - 32 * i];
    }
#pragma unroll
    for (int i = 0; i < reads; ++i) {
      while (said[i] == 0) said[i] = said_by[last - 32 * i];
      const unsigned with_sum = __ballot_sync(all_lanes, (said[i] & up_to_block) != 0);
      const unsigned up_to_nearest = with_sum ^ (with_sum - 1);  // all, where none has it
      sum += warp_sum((up_to_nearest >> threadIdx.x % 32 & 1) != 0 ? said[i] >> 2 : 0U);
      if (with_sum != 0) return sum;
    }
  }
}

__global__ void __launch_bounds__(threads, 4)
    select_edges(const statistic_matrix from, const std::uint32_t places_of_warp,
                 const detail::keep_range keep, const stats::p_function p_of,
                 const selected_edges to) {
  const auto places = static_cast<std::uint32_t>(from.rows * from.cols);
  const auto cols = static_cast<std::uint32_t>(from.cols);
  const unsigned lane = threadIdx.x % 32;
  const unsigned warp = threadIdx.x / 32;
  const std::uint32_t first = (blockIdx.x * warps + warp) * places_of_warp;
  const std::uint32_t end = min(first + places_of_warp, places);
  // visit(row, col, statistic, whether it is kept) for each place of the lane, in step.
  const auto for_each_place = [&](const auto& visit) {
    std::uint32_t at = first + lane;
    std::uint32_t row = at / cols;
    std::uint32_t col = at % cols;
    const std::uint32_t rows_of_step = 32 / cols;
    const std::uint32_t cols_of_step = 32 % cols;
#pragma unroll 4
    for (std::uint32_t step = first; step < end; step += 32) {
      const bool is_pair = at < end && from.first_row + row < from.first_col + col;
      const double statistic = is_pair ? from.statistics[at] : 0;
      visit(row, col, statistic, is_pair && keep.keeps(statistic));
      at += 32;
      row += rows_of_step;
      col += cols_of_step;
      if (col >= cols) {
        col -= cols;
        ++row;
      }
    }
  };
  std::uint32_t kept_of_lane = 0;
  for_each_place([&](std::uint32_t, std::uint32_t, double, bool kept) { kept_of_lane += kept; });
  __shared__ std::uint32_t kept_by_warp[warps];
  __shared__ std::uint32_t kept_earlier;
  const std::uint32_t kept_of_warp = warp_sum(kept_of_lane);
  if (lane == 0) kept_by_warp[warp] = kept_of_warp;
  __syncthreads();
  // Blocks begin in the order of their numbers, and say their own number before they wait.
  if (warp == 0) {
    std::uint32_t own = 0;
    for (const std::uint32_t of_warp : kept_by_warp) own += of_warp;
    std::uint32_t* const here = to.kept_by_block + blockIdx.x;
    if (lane == 0) atomicExch(here, own << 2 | of_block);
    const std::uint32_t before = kept_before(to.kept_by_block);
    if (lane == 0) {
      atomicExch(here, (before + own) << 2 | up_to_block);
      if (blockIdx.x + 1 == gridDim.x) *to.found = before + own;
      kept_earlier = before;
    }
  }
  __syncthreads();
  if (kept_of_warp == 0) return;
  std::uint64_t place = kept_earlier;
  for (unsigned w = 0; w < warp; ++w) place += kept_by_warp[w];
  for_each_place([&](std::uint32_t row, std::uint32_t col, double statistic, bool kept) {
    const unsigned lanes = __ballot_sync(all_lanes, kept);
    const std::uint64_t out = place + __popc(lanes & ((1U << lane) - 1));
    place += __popc(lanes);
    if (!kept || out >= to.capacity) return;
    row += static_cast<std::uint32_t>(from.first_row);
    if (to.edges == nullptr) {
      to.keys[out] = to.layout.of(row, static_cast<std::uint32_t>(from.first_col) + col);
      to.statistics[out] = static_cast<std::uint64_t>(__double_as_longlong(statistic));
    } else {
      to.edges[out] = {.row = row,
                       .col = col,
                       .statistic = statistic,
                       .p = p_of.table == nullptr ? 0.0 : p_of(statistic)};
    }
  });
}

}  // namespace

index_t select_blocks(index_t places) {
  return ceil_div(places, warps * places_of_warp(places));
}

void launch_select_edges(const statistic_matrix& from, const detail::keep_range& keep,
                         const stats::p_function& p_of, const selected_edges& to,
                         cudaStream_t stream) {
  const index_t places = from.rows * from.cols;
  const index_t blocks = select_blocks(places);
  if (blocks == 0) return;
  select_edges<<<static_cast<unsigned>(blocks), threads, 0, stream>>>(
      from, static_cast<std::uint32_t>(places_of_warp(places)), keep, p_of, to);
  GPU_SIMILARITY_CHECK_LAUNCH();
}

}  // namespace gpu::kernels
