#pragma once
// What the launches of every variant of top_k share: a call without its variant, and how many rows
// the scratch memory takes at a time.

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "cuda_runtime/arena.hpp"
#include "kernels/common/launch.cuh"
#include "kernels/top_k/key.cuh"
#include "plan/top_k_policy.hpp"

namespace gpu::kernels::select {

/// Everything of a call but the variant.
template <class T>
struct top_k_call {
  top_k_source<T> source;
  index_t rows;
  index_t k;
  bool sorted;
  int multiprocessors;
  std::size_t shared_bytes;
  row_sink<T> sink;
  index_t* counts = nullptr;  // distinct only
  index_t counts_stride = 0;
  index_t* found = nullptr;
  cudaStream_t stream = nullptr;

  /// The part of the call for rows [first, first + count).
  [[nodiscard]] top_k_call part(index_t first, index_t count) const {
    top_k_call one = *this;
    one.source.data += first * source.stride;
    one.sink.values += first * sink.values_stride;
    one.sink.indices += first * sink.indices_stride;
    if (counts != nullptr) one.counts += first * counts_stride;
    if (found != nullptr) one.found += first;
    one.rows = count;
    return one;
  }
};

/// Grids have at most this many rows, and scratch memory for no more than is worth it.
inline index_t rows_of_pass(index_t rows, index_t bytes_per_row) {
  const index_t most = std::max<index_t>(1, pass_bytes / std::max<index_t>(1, bytes_per_row));
  return std::min({rows, most, index_t{65535}});
}

template <class T>
unsigned filter_blocks(const top_k_call<T>& call) {
  const index_t tile =
      static_cast<index_t>(filter_threads) * filter_unroll * 16 / static_cast<index_t>(sizeof(T));
  const index_t most =
      static_cast<index_t>(call.multiprocessors) * filter_blocks_per_sm / call.rows;
  return grid_blocks(call.source.cols, tile, std::max<index_t>(1, most));
}

}  // namespace gpu::kernels::select
