#pragma once
// Writes chosen places of rows in their order: one launch counts them in parts of the rows, one
// writes them behind those of the parts before.

#include "kernels/top_k/block.cuh"
#include "kernels/top_k/call.cuh"

namespace gpu::kernels::select {

/// The part of a row of `cols` places that a block looks at.
struct row_part {
  index_t begin;
  index_t end;
  __device__ explicit row_part(index_t cols) {
    const index_t length = ceil_div(cols, gridDim.x);
    begin = static_cast<index_t>(blockIdx.x) * length;
    end = begin + length < cols ? begin + length : cols;
  }
};

/// counts [rows, gridDim.x] = places of each part that `choice.of_row(row)` chooses.
template <class Choice>
__global__ void __launch_bounds__(radix_threads)
    count_parts_kernel(index_t cols, Choice choice, unsigned long long* counts) {
  __shared__ unsigned long long scratch[33];
  const auto chosen = choice.of_row(blockIdx.y);
  const row_part part(cols);
  unsigned long long mine = 0;
#pragma unroll 4
  for (index_t i = part.begin + threadIdx.x; i < part.end; i += radix_threads) {
    mine += chosen(i) ? 1 : 0;
  }
  unsigned long long total;
  block_exclusive_sum(mine, total, scratch);
  if (threadIdx.x == 0) counts[blockIdx.y * gridDim.x + blockIdx.x] = total;
}

/// Calls put(row, number, place) for the chosen places of each row, in their order, and
/// put.end(row, how many). The same grid as count_parts_kernel, whose counts one block a row does
/// not need. A warp looks at `held` neighbouring groups of 32 places at a time.
template <class Choice, class Put>
__global__ void __launch_bounds__(radix_threads)
    write_parts_kernel(index_t cols, Choice choice, const unsigned long long* counts, Put put) {
  __shared__ unsigned long long scratch[33];
  constexpr int held = 8;
  const index_t row = blockIdx.y;
  const auto chosen = choice.of_row(row);
  const row_part part(cols);
  const unsigned lane = threadIdx.x % 32;
  unsigned long long before = 0;
  for (unsigned b = threadIdx.x; b < blockIdx.x; b += radix_threads) {
    before += counts[row * gridDim.x + b];
  }
  unsigned long long at;
  block_exclusive_sum(before, at, scratch);
  const index_t own = static_cast<index_t>(threadIdx.x / 32) * (32 * held) + lane;
  for (index_t first = part.begin; first < part.end; first += radix_threads * held) {
    bool hit[held];
#pragma unroll
    for (int u = 0; u < held; ++u) {
      const index_t i = first + own + u * 32;
      hit[u] = i < part.end && chosen(i);
    }
    unsigned hits[held];
    unsigned long long mine = 0;
#pragma unroll
    for (int u = 0; u < held; ++u) {
      hits[u] = __ballot_sync(all_lanes, hit[u]);
      mine += __popc(hits[u]);
    }
    unsigned long long total;
    const unsigned long long warps = block_exclusive_sum(lane == 0 ? mine : 0ull, total, scratch);
    unsigned long long number = at + __shfl_sync(all_lanes, warps, 0);
#pragma unroll
    for (int u = 0; u < held; ++u) {
      if (hit[u]) {
        put(row, static_cast<index_t>(number + __popc(hits[u] & ((1u << lane) - 1))),
            first + own + u * 32);
      }
      number += __popc(hits[u]);
    }
    at += total;
  }
  if (blockIdx.x == gridDim.x - 1 && threadIdx.x == 0) put.end(row, static_cast<index_t>(at));
}

/// Blocks that share a row's elements, of all rows of a call; at most most_row_parts in all, or one
/// a row.
template <class T>
dim3 part_grid(const top_k_call<T>& call) {
  const index_t blocks = call.multiprocessors * radix_blocks_per_sm;
  const index_t most = std::min(most_row_parts, blocks) / call.rows;
  return {grid_blocks(call.source.cols, radix_threads * 16, std::max<index_t>(1, most)),
          static_cast<unsigned>(call.rows)};
}

/// Both launches; `counts` has room for most_row_parts.
template <class T, class Choice, class Put>
void write_chosen(const top_k_call<T>& call, const Choice& choice, unsigned long long* counts,
                  const Put& put) {
  const dim3 grid = part_grid(call);
  if (grid.x > 1) {
    count_parts_kernel<<<grid, radix_threads, 0, call.stream>>>(call.source.cols, choice, counts);
    GPU_SIMILARITY_CHECK_LAUNCH();
  }
  write_parts_kernel<<<grid, radix_threads, 0, call.stream>>>(call.source.cols, choice, counts,
                                                              put);
  GPU_SIMILARITY_CHECK_LAUNCH();
}

}  // namespace gpu::kernels::select
