#pragma once
// One block ranks one row: keys and columns are sorted in shared memory and registers
// (cub::BlockRadixSort), a block scan over the run heads numbers the runs of equal keys, and each
// element finds where its run starts and ends. The counts are put back in column order in shared
// memory, so that a row is written coalesced.
//
// Elements beyond the row's end have the largest key. Where that ties with real elements, the run
// is clamped to the row; for ordinal ranks, which depend on the order within a run, elements enter
// the (stable) sort in column order, else in the order that reads coalesced.
// Shared memory: the larger of CUB's sort storage and 4 bytes an element.

#include <cub/block/block_discontinuity.cuh>
#include <cub/block/block_radix_sort.cuh>
#include <cub/block/block_reduce.cuh>
#include <cub/block/block_scan.cuh>
#include <cuda/functional>

#include "kernels/common/launch.cuh"
#include "kernels/rank/row_access.cuh"
#include "plan/rank_policy.hpp"

namespace gpu::kernels {

template <class Key, int Threads, int Items>
__global__ __launch_bounds__(Threads) void block_sort_kernel(row_source source, rank_target target,
                                                             tie_method ties) {
  using sort = cub::BlockRadixSort<Key, Threads, Items, std::uint16_t>;
  using heads = cub::BlockDiscontinuity<Key, Threads>;
  using scan = cub::BlockScan<int, Threads>;
  using reduce = cub::BlockReduce<long long, Threads>;
  constexpr int capacity = Threads * Items;
  struct row_state {
    std::uint16_t run_start[capacity + 1];
    std::int16_t counts[capacity];
  };
  __shared__ union {
    typename sort::TempStorage sort;
    typename heads::TempStorage heads;
    typename scan::TempStorage scan;
    typename reduce::TempStorage reduce;
    row_state row;
  } shared;

  const int thread = static_cast<int>(threadIdx.x);
  const int cols = source.cols;
  // The largest key of as many bits as are sorted: narrow types tie with it, as wide ones do.
  const auto filler = static_cast<Key>(~std::uint64_t{0} >> (64 - source.key_bits));
  const bool in_order = ties == tie_method::ordinal;
  const int thread_step = in_order ? Items : 1;
  const int item_step = in_order ? 1 : Threads;
  for (index_t row = blockIdx.x; row < source.rows; row += gridDim.x) {
    Key keys[Items];
    std::uint16_t columns[Items];
    bool has_nan = false;
#pragma unroll
    for (int i = 0; i < Items; ++i) {
      const int col = thread * thread_step + i * item_step;
      columns[i] = static_cast<std::uint16_t>(col);
      keys[i] = filler;
      if (col < cols) {
        const Key key = source.plain_key<Key>(row, col);
        has_nan = has_nan || source.is_nan(key);
        keys[i] = key ^ static_cast<Key>(source.flip);
      }
    }
    has_nan = __syncthreads_or(static_cast<int>(has_nan)) != 0;
    sort(shared.sort).Sort(keys, columns, 0, source.key_bits);
    __syncthreads();

    int is_head[Items];
    heads(shared.heads).FlagHeads(is_head, keys, ::cuda::std::not_equal_to<>{});
    __syncthreads();
    int run[Items];
    int runs = 0;
    scan(shared.scan).InclusiveSum(is_head, run, runs);
    __syncthreads();
#pragma unroll
    for (int i = 0; i < Items; ++i) {
      const int at = thread * Items + i;
      if (is_head[i] != 0) shared.row.run_start[run[i] - 1] = static_cast<std::uint16_t>(at);
    }
    if (thread == 0) shared.row.run_start[runs] = static_cast<std::uint16_t>(capacity);
    __syncthreads();
    long long squares = 0;
#pragma unroll
    for (int i = 0; i < Items; ++i) {
      if (columns[i] >= cols) continue;
      const int first = shared.row.run_start[run[i] - 1];
      const int last = min(cols, int{shared.row.run_start[run[i]]});
      const int count = count_in_run(ties, cols, first, last, thread * Items + i, run[i] - 1);
      shared.row.counts[columns[i]] = static_cast<std::int16_t>(count);
      squares += count * count;
    }
    __syncthreads();
    for (int col = thread; col < cols; col += Threads) {
      target.store(row, col, shared.row.counts[col], has_nan);
    }
    for (index_t col = cols + thread; col < target.cols; col += Threads) {
      target.store(row, col, 0, false);
    }
    __syncthreads();
    if (target.square_sums != nullptr) {
      squares = reduce(shared.reduce).Sum(squares);
      if (thread == 0) target.square_sums[row] = squares;
      __syncthreads();
    }
  }
}

/// The smallest size class that holds source.cols.
template <class Key, std::size_t Size = 0>
void launch_block_sort(const row_source& source, const rank_target& target, tie_method ties,
                       cudaStream_t stream) {
  constexpr rank_block_sort_size size = rank_block_sort_sizes[Size];
  if constexpr (size.capacity() < rank_block_sort_max_cols(sizeof(Key))) {
    if (source.cols > size.capacity()) {
      return launch_block_sort<Key, Size + 1>(source, target, ties, stream);
    }
  }
  block_sort_kernel<Key, size.threads, size.items>
      <<<grid_blocks(source.rows, 1), size.threads, 0, stream>>>(source, target, ties);
  GPU_SIMILARITY_CHECK_LAUNCH();
}

}  // namespace gpu::kernels
