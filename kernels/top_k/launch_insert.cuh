#pragma once
// The launches of `two_pass_insert`.

#include <algorithm>

#include "kernels/top_k/call.cuh"
#include "kernels/top_k/insert.cuh"

namespace gpu::kernels::select {

template <class T, class Composite>
struct insert_memory {
  static constexpr int most_k = static_cast<int>(detail::top_k_insert_most_k);
  index_t rows_per_pass;
  index_t blocks;
  Composite* lists;
  std::size_t bytes;

  insert_memory(index_t rows, index_t cols, void* memory) {
    blocks = grid_blocks(cols, insert_threads * most_k, insert_most_blocks);
    rows_per_pass = rows_of_pass(rows, blocks * most_k * static_cast<index_t>(sizeof(Composite)));
    cuda::arena pieces(memory);
    lists = pieces.take<Composite>(rows_per_pass * blocks * most_k);
    bytes = pieces.bytes();
  }
};

template <class T, class Composite, bool Distinct>
void run_insert(const top_k_call<T>& whole, void* workspace) {
  const insert_memory<T, Composite> memory(whole.rows, whole.source.cols, workspace);
  constexpr int most_k = insert_memory<T, Composite>::most_k;
  constexpr std::size_t shared = insert_threads * most_k * sizeof(Composite);
  const auto first_pass = insert_kernel<T, Composite, Distinct, most_k>;
  const auto second_pass = insert_merge_kernel<T, Composite, Distinct, most_k>;
  allow_shared_memory(first_pass, shared);
  allow_shared_memory(second_pass, shared);
  const int k = static_cast<int>(whole.k);
  for (index_t first = 0; first < whole.rows; first += memory.rows_per_pass) {
    const top_k_call<T> call =
        whole.part(first, std::min(memory.rows_per_pass, whole.rows - first));
    const dim3 grid(static_cast<unsigned>(memory.blocks), static_cast<unsigned>(call.rows));
    first_pass<<<grid, insert_threads, shared, call.stream>>>(call.source, k, memory.lists);
    GPU_SIMILARITY_CHECK_LAUNCH();
    second_pass<<<static_cast<unsigned>(call.rows), insert_threads, shared, call.stream>>>(
        call.source, k, memory.lists, memory.blocks, call.sink, call.counts, call.counts_stride,
        call.found);
    GPU_SIMILARITY_CHECK_LAUNCH();
    if constexpr (Distinct) {
      insert_count_kernel<T, Composite, most_k><<<grid, insert_threads, 0, call.stream>>>(
          call.source, k, memory.lists, memory.blocks, call.counts, call.counts_stride);
      GPU_SIMILARITY_CHECK_LAUNCH();
    }
  }
}

}  // namespace gpu::kernels::select
