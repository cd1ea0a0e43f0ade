#pragma once
// A screen of all pairs by 8-bit products, for cuts that few pairs pass.
//
// Let x be a row as a unit vector, so that the statistic of two rows is their dot product, and v
// its elements times q, rounded to integers of at most 127 (of at most 90, and v shorter than 181,
// for sums of 16 bits). With e = |x - v / q| of a row and E the largest of all rows, Cauchy and
// Schwarz give
//
//   |x.y - v.w / q^2| <= |x - v/q| |y| + |v/q| |y - w/q| <= E + (1 + E) E.
//
// A pair whose v.w is below q^2 (cut - 2E - E^2) therefore fails the cut. All other pairs go to the
// exact test. One threshold serves all pairs, whatever the ties of their rows.

#include <cmath>
#include <cstdint>
#include <vector>

#include "cpu/pairs/loops/kernels.hpp"
#include "cpu/pairs/search/packed_columns.hpp"
#include "cpu/pairs/search/pair_filter.hpp"

namespace gpu::cpu {

class row_screen {
 public:
  row_screen() = default;

  /// Rows i of `count` are values + i * stride, times unit(i) a unit vector; T is int8, int16 or
  /// double.
  template <class T>
  row_screen(const pair_kernels& kernels, const T* values, index_t count, index_t cols,
             index_t stride, const double* lengths, int threads);

  [[nodiscard]] bool is_empty() const { return columns_.is_empty(); }

  /// A pair whose statistic is below this fails the screen of `cut`, but for what rounding to bytes
  /// does to it: at worst 2E + E^2.
  [[nodiscard]] double weakest(double cut) const { return cut - error_ * (2 + error_); }

  /// Scratch bytes that `search` needs for rows of `cols` values.
  static std::size_t scratch_bytes(const pair_kernels& kernels, index_t cols);

  /// As pair_filter::search, for cuts above 0.
  void search(const pair_tile& tile, const pair_cut& cut, pair_scratch& scratch,
              const exact_test& test) const;

 private:
  const screen_kernel* kernel_ = nullptr;
  packed_columns columns_;
  std::vector<std::int32_t> sums_;  // of the bytes of each row
  double scale_ = 0;                // q
  double error_ = 0;                // E
};

}  // namespace gpu::cpu
