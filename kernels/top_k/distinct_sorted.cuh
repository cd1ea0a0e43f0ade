#pragma once
// Distinct values of rows that `sort` has sorted whole.

#include "kernels/top_k/distinct_keys.cuh"

namespace gpu::kernels::select {

/// First position behind `at` in sorted[0, cols) whose key differs from the one at `at`.
template <class T, class Composite>
__device__ inline index_t end_of_run(const Composite* sorted, index_t cols, index_t at) {
  const key_t<T> key = key_of<T>(sorted[at]);
  index_t low = at;
  index_t high = cols;
  while (high - low > 1) {
    const index_t middle = low + (high - low) / 2;
    (key_of<T>(sorted[middle]) == key ? low : high) = middle;
  }
  return high;
}

/// The best k distinct keys of rows sorted whole, [rows, cols]: one block per row looks for the
/// starts of runs, and leaps over a run that fills all it looks at.
template <class T, class Composite>
__global__ void __launch_bounds__(finish_threads)
    distinct_of_sorted_kernel(row_source<T> source, index_t first_row, const Composite* sorted_rows,
                              index_t k, row_sink<T> sink, index_t* counts, index_t counts_stride,
                              index_t* found) {
  __shared__ unsigned scratch[33];
  __shared__ index_t leap;
  const index_t row_number = first_row + blockIdx.x;
  const T* row = source.row(row_number);
  const Composite* sorted = sorted_rows + static_cast<index_t>(blockIdx.x) * source.cols;
  index_t* row_counts = counts + row_number * counts_stride;
  index_t known = 0;
  index_t first = 0;
  while (first < source.cols && known < k) {
    const index_t at = first + threadIdx.x;
    const bool head =
        at < source.cols && (at == 0 || key_of<T>(sorted[at]) != key_of<T>(sorted[at - 1]));
    unsigned total;
    const index_t rank = known + block_exclusive_sum(head ? 1u : 0u, total, scratch);
    if (head && rank < k) {
      sink.put(row_number, rank, row, position_of<T>(sorted[at]));
      row_counts[rank] = end_of_run<T>(sorted, source.cols, at) - at;
    }
    known += total;
    if (total == 0) {
      if (threadIdx.x == 0) leap = end_of_run<T>(sorted, source.cols, first);
      __syncthreads();
      first = leap;
      __syncthreads();
    } else {
      first += finish_threads;
    }
  }
  known = known < k ? known : k;
  for (index_t i = known + threadIdx.x; i < k; i += finish_threads) {
    sink.values[row_number * sink.values_stride + i] = T{};
    sink.indices[row_number * sink.indices_stride + i] = -1;
    row_counts[i] = 0;
  }
  if (threadIdx.x == 0) found[row_number] = known;
}

}  // namespace gpu::kernels::select
