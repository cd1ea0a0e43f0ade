#pragma once
// `two_pass_insert`, the first rung of the ladder: two passes of insertion. Each thread walks the
// row with a grid stride and keeps a sorted list of its best in registers; the lists of a block
// merge pairwise in shared memory; a second launch of one block a row merges the blocks' lists the
// same way.
//
// Every element costs a comparison with the list's last entry and, early on, an insertion: with n
// elements shared by P threads each list is entered about k ln(n / (P k)) times, and warps wait
// for their slowest lane. It reads the data once, but is bound by those insertions and by the
// merges, which handle blocks * threads * k entries.
// Shared memory: a list of most_inserted composites a thread.

#include "kernels/top_k/call.cuh"

namespace gpu::kernels::select {

inline constexpr int most_inserted = static_cast<int>(detail::top_k_insert_most_k);

/// The largest composites that were inserted, the largest first.
template <class Composite>
struct insert_list {
  Composite items[most_inserted] = {};

  __device__ void insert(Composite c) {
    if (c <= items[most_inserted - 1]) return;
#pragma unroll
    for (int i = 0; i < most_inserted; ++i) {
      const bool swap = c > items[i];
      const Composite old = items[i];
      items[i] = swap ? c : old;
      c = swap ? old : c;
    }
  }
};

/// Leaves the largest of get(0) to get(count - 1) that fall to the block in lists[0,
/// most_inserted).
template <class Composite, class Get>
__device__ inline void block_insert(index_t count, const Get& get, Composite* lists) {
  insert_list<Composite> mine;
  const index_t step = static_cast<index_t>(gridDim.x) * insert_threads;
  for (index_t i = static_cast<index_t>(blockIdx.x) * insert_threads + threadIdx.x; i < count;
       i += step) {
    mine.insert(get(i));
  }
  Composite* own = lists + threadIdx.x * most_inserted;
  for (unsigned half = insert_threads; half > 0; half /= 2) {
    if (threadIdx.x < half) {
      if (half < insert_threads) {
        for (int i = 0; i < most_inserted; ++i) mine.insert(own[half * most_inserted + i]);
      }
#pragma unroll
      for (int i = 0; i < most_inserted; ++i) own[i] = mine.items[i];
    }
    __syncthreads();
  }
}

/// Blocks [any, rows] of insert_threads; lists [rows, gridDim.x, most_inserted].
template <class T, class Composite>
__global__ void __launch_bounds__(insert_threads)
    insert_kernel(top_k_source<T> source, Composite* lists) {
  extern __shared__ __align__(16) unsigned char dynamic_memory[];
  auto* best = reinterpret_cast<Composite*>(dynamic_memory);
  const T* row = source.row(blockIdx.y);
  block_insert(
      source.cols,
      [&](index_t i) { return compose<T, Composite>(make_key(row[i], source.flip), i); }, best);
  Composite* out =
      lists + (static_cast<index_t>(blockIdx.y) * gridDim.x + blockIdx.x) * most_inserted;
  if (threadIdx.x < most_inserted) out[threadIdx.x] = best[threadIdx.x];
}

/// Blocks [1, rows]: merges `count` entries of the lists of each row and writes the best k.
template <class T, class Composite>
__global__ void __launch_bounds__(insert_threads)
    insert_merge_kernel(top_k_source<T> source, int k, const Composite* lists, index_t count,
                        row_sink<T> sink) {
  extern __shared__ __align__(16) unsigned char dynamic_memory[];
  auto* best = reinterpret_cast<Composite*>(dynamic_memory);
  const index_t row = blockIdx.y;
  block_insert(count, [&](index_t i) { return lists[row * count + i]; }, best);
  const auto rank = static_cast<int>(threadIdx.x);
  if (rank < k) sink.put(row, rank, source.row(row), position_of<T>(best[rank]));
}

template <class T, class Composite>
struct insert_memory {
  index_t rows_per_pass;
  index_t blocks;
  Composite* lists;
  std::size_t bytes;

  insert_memory(index_t rows, index_t cols, void* memory) {
    blocks = grid_blocks(cols, insert_threads * most_inserted, insert_most_blocks);
    const index_t entries = blocks * most_inserted;
    rows_per_pass = rows_of_pass(rows, entries * static_cast<index_t>(sizeof(Composite)));
    cuda::arena pieces(memory);
    lists = pieces.take<Composite>(rows_per_pass * entries);
    bytes = pieces.bytes();
  }
};

template <class T, class Composite>
void run_insert(const top_k_call<T>& whole, void* workspace) {
  const insert_memory<T, Composite> memory(whole.rows, whole.source.cols, workspace);
  constexpr std::size_t shared = insert_threads * most_inserted * sizeof(Composite);
  const auto first_pass = insert_kernel<T, Composite>;
  const auto second_pass = insert_merge_kernel<T, Composite>;
  allow_shared_memory(first_pass, shared);
  allow_shared_memory(second_pass, shared);
  for (index_t first = 0; first < whole.rows; first += memory.rows_per_pass) {
    const top_k_call<T> call =
        whole.part(first, std::min(memory.rows_per_pass, whole.rows - first));
    const auto rows = static_cast<unsigned>(call.rows);
    first_pass<<<dim3(static_cast<unsigned>(memory.blocks), rows), insert_threads, shared,
                 call.stream>>>(call.source, memory.lists);
    GPU_SIMILARITY_CHECK_LAUNCH();
    second_pass<<<dim3(1, rows), insert_threads, shared, call.stream>>>(
        call.source, static_cast<int>(call.k), memory.lists, memory.blocks * most_inserted,
        call.sink);
    GPU_SIMILARITY_CHECK_LAUNCH();
  }
}

}  // namespace gpu::kernels::select
