#pragma once
// One warp ranks one row by counting: the row's keys lie in shared memory, each lane compares its
// own elements with all of them; every read is a broadcast. cols <= rank_counting_max_cols.

#include "kernels/common/warp.cuh"
#include "kernels/rank/row_access.cuh"
#include "plan/rank_policy.hpp"

namespace gpu::kernels {

/// What the comparisons of one pass have to find out; average, min and max share one.
enum class count_kind { order, ordinal, dense };

inline count_kind kind_of(tie_method ties) {
  if (ties == tie_method::ordinal) return count_kind::ordinal;
  return ties == tie_method::dense ? count_kind::dense : count_kind::order;
}

/// For each 32 columns a word whose bits mark the elements that are the first of their value.
template <class Key>
__device__ __forceinline__ void mark_first_of_value(const Key* keys, int cols, unsigned* marks) {
  const int lane = static_cast<int>(threadIdx.x % 32);
  for (int base = 0; base < cols; base += 32) {
    const int col = base + lane;
    bool first = col < cols;
    for (int j = 0; j < min(col, cols); ++j) first = first && !(col < cols && keys[j] == keys[col]);
    marks[base / 32] = __ballot_sync(0xffffffffU, first);
  }
}

/// Ranks `row`; `keys` is the warp's own shared memory for source.cols keys.
template <class Key, count_kind Kind>
__device__ void count_row(const rank_source& source, const rank_target& target, tie_method ties,
                          index_t row, Key* keys) {
  const int lane = static_cast<int>(threadIdx.x % 32);
  const int cols = source.cols;
  bool has_nan = false;
  for (int col = lane; col < cols; col += 32) {
    const Key key = source.plain_key<Key>(row, col);
    has_nan = has_nan || source.is_nan(key);
    keys[col] = key ^ static_cast<Key>(source.flip);
  }
  has_nan = __any_sync(0xffffffffU, has_nan);
  __syncwarp();
  unsigned marks[rank_counting_max_cols / 32] = {};
  if constexpr (Kind == count_kind::dense) mark_first_of_value(keys, cols, marks);
  int squares = 0;
  for (int base = 0; base < cols; base += 32) {
    const int col = base + lane;
    const Key own = keys[min(col, cols - 1)];
    int smaller = 0;
    int equal = 0;
#pragma unroll 4
    for (int j = 0; j < cols; ++j) {
      const Key other = keys[j];
      if constexpr (Kind == count_kind::dense) {
        smaller += static_cast<int>(other < own && (marks[j / 32] >> (j % 32) & 1) != 0);
      } else {
        smaller += static_cast<int>(other < own);
        equal += static_cast<int>(other == own && (Kind == count_kind::order || j < col));
      }
    }
    if (col < cols) {
      const int count =
          count_in_run(ties, cols, smaller, smaller + equal, smaller + equal, smaller);
      target.store(row, col, count, has_nan);
      squares += count * count;
    }
  }
  for (index_t col = cols + lane; col < target.cols; col += 32) target.store(row, col, 0, false);
  if (target.square_sums != nullptr) {
    squares = warp_sum(squares);
    if (lane == 0) target.square_sums[row] = squares;
  }
  __syncwarp();
}

}  // namespace gpu::kernels
