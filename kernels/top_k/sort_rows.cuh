#pragma once
// `sort`: sorts everything, any k. Of distinct values: distinct_sort.cuh.

#include "kernels/top_k/radix.cuh"

namespace gpu::kernels::select {

/// composites [rows, cols] of all elements.
template <class T, class Composite>
__global__ void compose_kernel(top_k_source<T> source, index_t rows, Composite* composites) {
  const index_t step = static_cast<index_t>(gridDim.x) * blockDim.x;
  for (index_t i = static_cast<index_t>(blockIdx.x) * blockDim.x + threadIdx.x;
       i < rows * source.cols; i += step) {
    const index_t position = i % source.cols;
    const T value = source.row(i / source.cols)[position];
    composites[i] = compose<T, Composite>(make_key(value, source.flip), position);
  }
}

template <class T, class Composite>
struct sort_memory {
  index_t rows_per_pass;
  Composite* composed;
  Composite* spare;
  void* scratch;
  std::size_t scratch_bytes;
  std::size_t bytes;

  sort_memory(index_t rows, index_t cols, void* memory) {
    rows_per_pass = rows_of_pass(rows, 2 * cols * static_cast<index_t>(sizeof(Composite)));
    scratch_bytes = sort_words_workspace<Composite>(rows_per_pass, cols);
    cuda::arena pieces(memory);
    composed = pieces.take<Composite>(rows_per_pass * cols);
    spare = pieces.take<Composite>(rows_per_pass * cols);
    scratch = pieces.take<std::byte>(scratch_bytes);
    bytes = pieces.bytes();
  }
};

template <class T, class Composite>
void run_sort(const top_k_call<T>& whole, void* workspace) {
  const index_t cols = whole.source.cols;
  const sort_memory<T, Composite> memory(whole.rows, cols, workspace);
  for (index_t first = 0; first < whole.rows; first += memory.rows_per_pass) {
    const top_k_call<T> call =
        whole.part(first, std::min(memory.rows_per_pass, whole.rows - first));
    compose_kernel<T, Composite>
        <<<grid_blocks(call.rows * cols, 1024, 65536), 256, 0, call.stream>>>(
            call.source, call.rows, memory.composed);
    GPU_SIMILARITY_CHECK_LAUNCH();
    emit_sorted(
        call,
        sort_words(memory.composed, memory.spare, call.rows, cols, composite_key_bits<T, Composite>,
                   memory.scratch, memory.scratch_bytes, call.stream),
        cols);
  }
}

}  // namespace gpu::kernels::select
