// Pairs of two blocks of statistics that a screen lets pass, in the order of rows and columns.
//
// A block of threads takes a row. One pass counts its pairs, the host adds up the counts, and a
// second pass writes: every pair has its place before any is written, so nothing is sorted. Both
// passes read the statistics at the speed of the memory, which is little beside computing them.

#include "kernels/common/launch.cuh"
#include "kernels/common/warp.cuh"
#include "kernels/pairs/differences/kernels.hpp"

namespace gpu::kernels {
namespace {

constexpr int threads = 256;
constexpr int warps = threads / 32;

// The first column to look at of row i of the block.
__device__ index_t begin_of(const difference_block& block, const difference_search& search,
                            index_t i) {
  if (!search.later_alone) return block.cols.begin;
  return max(block.cols.begin, block.first_row + i + 1 - block.first_col);
}

struct statistics_pair {
  double first;
  double second;
};

// Whether pair (i, col) of the block is found; `kept` whether it is surely kept and counted.
__device__ bool is_found(const difference_block& block, const difference_search& search, index_t i,
                         index_t col, double bar, statistics_pair& pair, bool& kept) {
  kept = false;
  if (block.first_row + i == block.first_col + col) return false;
  pair = {block.first[i * block.pitch + col], block.second[i * block.pitch + col]};
  if (!search.screen.may_reach(pair.first, pair.second, bar)) return false;
  kept = search.degrees != nullptr && search.screen.surely_keeps(pair.first, pair.second);
  return !kept;
}

__device__ double bar_of(const difference_search& search, index_t i) {
  return search.bars != nullptr ? search.bars[i] : search.screen.bar;
}

// The sum over the block of threads, for thread 0.
__device__ std::uint32_t sum_of_block(std::uint32_t own, std::uint32_t (&of_warps)[warps]) {
  own = warp_sum(own);
  if (threadIdx.x % 32 == 0) of_warps[threadIdx.x / 32] = own;
  __syncthreads();
  std::uint32_t sum = 0;
  if (threadIdx.x == 0) {
    for (const std::uint32_t part : of_warps) sum += part;
  }
  __syncthreads();
  return sum;
}

__global__ void __launch_bounds__(threads)
    count_differences_kernel(const __grid_constant__ difference_block block,
                             const __grid_constant__ difference_search search,
                             std::uint32_t* counts) {
  __shared__ std::uint32_t of_warps[warps];
  const index_t i = blockIdx.x;
  const double bar = bar_of(search, i);
  std::uint32_t found = 0;
  std::uint32_t kept_here = 0;
  for (index_t col = begin_of(block, search, i) + threadIdx.x; col < block.cols.end;
       col += threads) {
    statistics_pair pair;
    bool kept = false;
    found += is_found(block, search, i, col, bar, pair, kept) ? 1 : 0;
    if (kept) {
      ++kept_here;
      atomicAdd(search.degrees + block.first_col + col, 1u);
    }
  }
  const std::uint32_t sum = sum_of_block(found, of_warps);
  const std::uint32_t kept_sum = search.degrees != nullptr ? sum_of_block(kept_here, of_warps) : 0;
  if (threadIdx.x != 0) return;
  counts[i] = sum;
  if (kept_sum != 0) atomicAdd(search.degrees + block.first_row + i, kept_sum);
}

__global__ void __launch_bounds__(threads)
    write_differences_kernel(const __grid_constant__ difference_block block,
                             const __grid_constant__ difference_search search, index_t first,
                             const __grid_constant__ difference_lists out) {
  __shared__ std::uint32_t of_warps[warps];
  const index_t i = first + blockIdx.x;
  if (out.begin[i] == out.begin[i + 1]) return;
  const int lane = static_cast<int>(threadIdx.x) % 32;
  const int warp = static_cast<int>(threadIdx.x) / 32;
  const double bar = bar_of(search, i);
  std::uint64_t next = out.begin[i] - out.begin[first];
  for (index_t start = begin_of(block, search, i); start < block.cols.end; start += threads) {
    const index_t col = start + threadIdx.x;
    statistics_pair pair;
    bool kept = false;
    const bool found = col < block.cols.end && is_found(block, search, i, col, bar, pair, kept);
    const unsigned ballot = __ballot_sync(0xffffffffu, found);
    if (lane == 0) of_warps[warp] = __popc(ballot);
    __syncthreads();
    std::uint32_t before = __popc(ballot & ((1u << lane) - 1));
    std::uint32_t all = 0;
#pragma unroll
    for (int w = 0; w < warps; ++w) {
      const std::uint32_t part = of_warps[w];
      if (w < warp) before += part;
      all += part;
    }
    if (found) {
      const std::uint64_t at = next + before;
      out.cols[at] = static_cast<std::uint32_t>(block.first_col + col);
      out.first[at] = pair.first;
      out.second[at] = pair.second;
    }
    next += all;
    __syncthreads();
  }
}

}  // namespace

void launch_count_differences(const difference_block& block, const difference_search& search,
                              std::uint32_t* counts, cudaStream_t stream) {
  if (block.rows == 0) return;
  count_differences_kernel<<<static_cast<unsigned>(block.rows), threads, 0, stream>>>(block, search,
                                                                                      counts);
  GPU_SIMILARITY_CHECK_LAUNCH();
}

void launch_write_differences(const difference_block& block, const difference_search& search,
                              detail::index_range rows, const difference_lists& out,
                              cudaStream_t stream) {
  if (rows.empty()) return;
  write_differences_kernel<<<static_cast<unsigned>(rows.size()), threads, 0, stream>>>(
      block, search, rows.begin, out);
  GPU_SIMILARITY_CHECK_LAUNCH();
}

}  // namespace gpu::kernels
