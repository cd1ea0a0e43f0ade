#pragma once
// What takes the pairs of Tanimoto similarities. A warp hands in 32 columns of one row after the
// other: lane l the pair of its column. Each sink has
//
//   screen(row)                of the row's pairs that are worth taking
//   begin(), end(col, valid)   around the rows of a group of 32 columns
//   take(row, col, common, value, passes)
//                              by all lanes of a warp, with one row; `passes`: the pair is met, and
//                              its screen holds or was not looked at

#include <cuda_runtime.h>

#include <cstdint>

#include "kernels/common/warp.cuh"
#include "kernels/tanimoto/kernels.hpp"
#include "stats/bins.hpp"
#include "stats/set_similarity.hpp"

namespace gpu::kernels {

/// Places of the lanes with `is_mine` behind a counter of the warp: add(n) moves it by n and
/// returns where it was.
template <class Add>
__device__ __forceinline__ auto places_of(bool is_mine, const Add& add) {
  const unsigned lane = threadIdx.x % 32;
  const unsigned mask = __ballot_sync(~0U, is_mine);
  decltype(add(1U)) first = 0;
  if (lane == 0 && mask != 0) first = add(static_cast<unsigned>(__popc(mask)));
  first = __shfl_sync(~0U, first, 0);
  return first + static_cast<unsigned>(__popc(mask & ((1U << lane) - 1)));
}

template <class Value>
struct matrix_taker {
  const tanimoto_matrix<Value>& to;

  __device__ __forceinline__ matrix_taker(const tanimoto_matrix<Value>& out,
                                          const stats::set_weights&)
      : to(out) {}
  __device__ __forceinline__ stats::set_screen screen(index_t) const { return {0, 0}; }
  __device__ __forceinline__ void begin() {}
  __device__ __forceinline__ void end(index_t, bool) {}
  __device__ __forceinline__ void take(index_t row, index_t col, std::int32_t, double value,
                                       bool passes) {
    if (!passes) return;
    to.values[(row - to.first_row) * to.stride + (col - to.first_col)] = static_cast<Value>(value);
  }
};

struct edge_taker {
  const tanimoto_edges& to;
  stats::set_screen by;

  __device__ __forceinline__ edge_taker(const tanimoto_edges& out, const stats::set_weights& of)
      : to(out), by(stats::screen_of(out.least, of)) {}
  __device__ __forceinline__ stats::set_screen screen(index_t) const { return by; }
  __device__ __forceinline__ void begin() {}
  __device__ __forceinline__ void end(index_t, bool) {}
  __device__ __forceinline__ void take(index_t row, index_t col, std::int32_t common, double value,
                                       bool passes) {
    const bool kept = passes && value >= to.least;
    if (!__any_sync(~0U, kept)) return;
    const unsigned long long at = places_of(kept, [&](unsigned n) {
      return atomicAdd(reinterpret_cast<unsigned long long*>(to.count),
                       static_cast<unsigned long long>(n));
    });
    if (!kept || at >= to.capacity) return;
    to.keys[at] =
        (static_cast<std::uint64_t>(row - to.first_row) << 32) | static_cast<std::uint64_t>(col);
    to.common[at] = static_cast<std::uint32_t>(common);
  }
};

struct count_taker {
  const tanimoto_counts& to;
  stats::set_screen by;
  std::uint32_t of_col = 0;

  __device__ __forceinline__ count_taker(const tanimoto_counts& out, const stats::set_weights& of)
      : to(out), by(stats::screen_of(out.least, of)) {}
  __device__ __forceinline__ stats::set_screen screen(index_t) const { return by; }
  __device__ __forceinline__ void begin() { of_col = 0; }
  __device__ __forceinline__ void end(index_t col, bool valid) {
    if (valid && of_col > 0) atomicAdd(to.col_degree + col, of_col);
  }
  __device__ __forceinline__ void take(index_t row, index_t, std::int32_t, double value,
                                       bool passes) {
    const bool kept = passes && value >= to.least;
    const unsigned mask = __ballot_sync(~0U, kept);
    if (mask == 0) return;
    of_col += kept ? 1 : 0;
    const unsigned lane = threadIdx.x % 32;
    if (lane == 0) atomicAdd(to.row_degree + row, static_cast<std::uint32_t>(__popc(mask)));
    if (to.bins == 0 || !kept) return;
    const auto bin = static_cast<unsigned>(detail::histogram_bin(value, to.bins));
#if __CUDA_ARCH__ >= 700
    const unsigned same = __match_any_sync(mask, bin);
#else
    const unsigned same = 1U << lane;
#endif
    if (static_cast<int>(lane) != __ffs(static_cast<int>(same)) - 1) return;
    atomicAdd(reinterpret_cast<unsigned long long*>(to.histogram) + bin,
              static_cast<unsigned long long>(__popc(same)));
  }
};

struct partner_taker {
  const tanimoto_partners& to;

  __device__ __forceinline__ partner_taker(const tanimoto_partners& out, const stats::set_weights&)
      : to(out) {}
  __device__ __forceinline__ stats::set_screen screen(index_t row) const {
    return to.screen[row - to.first_row];
  }
  __device__ __forceinline__ void begin() {}
  __device__ __forceinline__ void end(index_t, bool) {}
  __device__ __forceinline__ void take(index_t row, index_t col, std::int32_t common, double value,
                                       bool passes) {
    if (!__any_sync(~0U, passes)) return;
    const index_t own = row - to.first_row;
    const bool joins = passes && value >= to.least && value > to.worst[own];
    if (!__any_sync(~0U, joins)) return;
    const std::uint32_t at =
        places_of(joins, [&](unsigned n) { return atomicAdd(to.found + own, n); });
    if (!joins) return;
    if (at < static_cast<std::uint32_t>(to.capacity)) {
      to.candidates[own * to.capacity + at] = {static_cast<std::uint32_t>(col),
                                               static_cast<std::uint32_t>(common)};
    } else {
      *to.overflow = 1;
    }
  }
};

template <class Sink>
struct taker_of;
template <class Value>
struct taker_of<tanimoto_matrix<Value>> {
  using type = matrix_taker<Value>;
};
template <>
struct taker_of<tanimoto_edges> {
  using type = edge_taker;
};
template <>
struct taker_of<tanimoto_counts> {
  using type = count_taker;
};
template <>
struct taker_of<tanimoto_partners> {
  using type = partner_taker;
};

__device__ __forceinline__ bool is_met(bit_columns met, index_t row, index_t col) {
  if (met == bit_columns::all) return true;
  return met == bit_columns::later ? col > row : col != row;
}

/// By a warp: 16 rows from first_row on with one column a lane. common(r) is the count of row
/// first_row + r with the lane's column. All rows are screened before any is taken: what a lane
/// needs of a row comes from the lane that has loaded it, so nothing waits for memory row by row.
template <class Taker, class Common>
__device__ __forceinline__ void take_group(const bit_area& area, Taker& taker, index_t first_row,
                                           index_t col, const Common& common) {
  constexpr int rows = 16;
  const bool valid = area.cols.begin <= col && col < area.cols.end;
  const std::int32_t ones = valid ? area.right.row_offsets[col] : 0;
  const index_t loaded_row = first_row + threadIdx.x % rows;
  const bool is_inside = area.rows.begin <= loaded_row && loaded_row < area.rows.end;
  const std::int32_t loaded_ones = is_inside ? area.left.row_offsets[loaded_row] : 0;
  const stats::set_screen loaded = is_inside ? taker.screen(loaded_row) : stats::set_screen{0, 0};
  const float loaded_least = loaded.left * static_cast<float>(loaded_ones);
  const unsigned inside = __ballot_sync(~0U, is_inside);
  unsigned passes = 0;
#pragma unroll 4
  for (int r = 0; r < rows; ++r) {
    const float t = __shfl_sync(~0U, loaded.right, r);
    const float least = __shfl_sync(~0U, loaded_least, r);
    if ((inside >> r & 1U) == 0 || !valid || !is_met(area.met, first_row + r, col)) continue;
    const auto both = static_cast<float>(common(r));
    if (fmaf(-t, static_cast<float>(ones), both) >= least) passes |= 1U << r;
  }
  taker.begin();
#pragma unroll 1
  for (unsigned left = warp_or(passes); left != 0; left &= left - 1) {
    const int r = __ffs(static_cast<int>(left)) - 1;
    const std::int32_t own = __shfl_sync(~0U, loaded_ones, r);
    const std::int32_t both = valid ? common(r) : 0;
    taker.take(first_row + r, col, both, stats::set_similarity(both, own, ones, area.of),
               (passes >> r & 1U) != 0);
  }
  taker.end(col, valid);
}

}  // namespace gpu::kernels
