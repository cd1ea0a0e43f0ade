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

/// Shared memory of a block, and the CUB algorithms that use it one after the other.
template <class Key, int Threads, int Items>
struct block_sort_memory {
  static constexpr int capacity = Threads * Items;
  using sort = cub::BlockRadixSort<Key, Threads, Items, std::uint16_t>;
  using heads = cub::BlockDiscontinuity<Key, Threads>;
  using scan = cub::BlockScan<int, Threads>;
  using reduce = cub::BlockReduce<long long, Threads>;
  struct row_state {
    std::uint16_t run_start[capacity + 1];
    std::int16_t counts[capacity];
  };
  union {
    typename sort::TempStorage sorting;
    typename heads::TempStorage finding_heads;
    typename scan::TempStorage scanning;
    typename reduce::TempStorage reducing;
    row_state row;
  };
};

/// Reads the thread's elements of a row; true on all threads where the row holds a NaN.
template <class Key, int Threads, int Items>
__device__ __forceinline__ bool load_keys(const rank_source& source, index_t row, bool in_order,
                                          Key (&keys)[Items], std::uint16_t (&columns)[Items]) {
  // The largest key of as many bits as are sorted: narrow types tie with it, as wide ones do.
  const auto filler = static_cast<Key>(~std::uint64_t{0} >> (64 - source.key_bits));
  const int thread = static_cast<int>(threadIdx.x);
  const int thread_step = in_order ? Items : 1;
  const int item_step = in_order ? 1 : Threads;
  bool has_nan = false;
#pragma unroll
  for (int i = 0; i < Items; ++i) {
    const int col = thread * thread_step + i * item_step;
    columns[i] = static_cast<std::uint16_t>(col);
    keys[i] = filler;
    if (col < source.cols) {
      const Key key = source.plain_key<Key>(row, col);
      has_nan = has_nan || source.is_nan(key);
      keys[i] = key ^ static_cast<Key>(source.flip);
    }
  }
  return __syncthreads_or(static_cast<int>(has_nan)) != 0;
}

/// Numbers the runs of equal keys from 1 on: run[i] of each sorted item, and where each run starts
/// in memory.row.run_start, one entry more for the end of the last.
template <class Key, int Threads, int Items>
__device__ __forceinline__ void find_runs(block_sort_memory<Key, Threads, Items>& memory,
                                          Key (&keys)[Items], int (&run)[Items]) {
  using memory_type = block_sort_memory<Key, Threads, Items>;
  const int thread = static_cast<int>(threadIdx.x);
  int is_head[Items];
  typename memory_type::heads(memory.finding_heads)
      .FlagHeads(is_head, keys, ::cuda::std::not_equal_to<>{});
  __syncthreads();
  int runs = 0;
  typename memory_type::scan(memory.scanning).InclusiveSum(is_head, run, runs);
  __syncthreads();
#pragma unroll
  for (int i = 0; i < Items; ++i) {
    const int at = thread * Items + i;
    if (is_head[i] != 0) memory.row.run_start[run[i] - 1] = static_cast<std::uint16_t>(at);
  }
  if (thread == 0) memory.row.run_start[runs] = static_cast<std::uint16_t>(memory_type::capacity);
  __syncthreads();
}

template <class Key, int Threads, int Items>
__global__ __launch_bounds__(Threads) void block_sort_kernel(rank_source source, rank_target target,
                                                             tie_method ties) {
  using memory_type = block_sort_memory<Key, Threads, Items>;
  __shared__ memory_type memory;
  const int thread = static_cast<int>(threadIdx.x);
  const int cols = source.cols;
  for (index_t row = blockIdx.x; row < source.rows; row += gridDim.x) {
    Key keys[Items];
    std::uint16_t columns[Items];
    const bool has_nan =
        load_keys<Key, Threads, Items>(source, row, ties == tie_method::ordinal, keys, columns);
    typename memory_type::sort(memory.sorting).Sort(keys, columns, 0, source.key_bits);
    __syncthreads();
    int run[Items];
    find_runs(memory, keys, run);
    long long squares = 0;
#pragma unroll
    for (int i = 0; i < Items; ++i) {
      if (columns[i] >= cols) continue;
      const int first = memory.row.run_start[run[i] - 1];
      const int last = min(cols, int{memory.row.run_start[run[i]]});
      const int count = count_in_run(ties, cols, first, last, thread * Items + i, run[i] - 1);
      memory.row.counts[columns[i]] = static_cast<std::int16_t>(count);
      squares += count * count;
    }
    __syncthreads();
    for (int col = thread; col < cols; col += Threads) {
      target.store(row, col, memory.row.counts[col], has_nan);
    }
    for (index_t col = cols + thread; col < target.cols; col += Threads) {
      target.store(row, col, 0, false);
    }
    __syncthreads();
    if (target.square_sums != nullptr) {
      squares = typename memory_type::reduce(memory.reducing).Sum(squares);
      if (thread == 0) target.square_sums[row] = squares;
      __syncthreads();
    }
  }
}

/// The smallest size class that holds source.cols.
template <class Key, std::size_t Size = 0>
void launch_block_sort(const rank_source& source, const rank_target& target, tie_method ties,
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
