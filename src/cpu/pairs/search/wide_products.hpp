#pragma once
// The filter by wide rows as 16-bit integers: sums of products of blocks of pairs.
//
// Where the integers are the ranks themselves the sums are exact. Other rows are scaled to one
// length and rounded: with E the largest distance of a row of length s from its rounded form, a sum
// differs from s^2 times the statistic by at most 2 s E + 3 E^2 (Cauchy-Schwarz).

#include <cstddef>
#include <cstdint>
#include <memory>

#include <gpu/index.hpp>

#include "cpu/pairs/loops/kernels.hpp"
#include "cpu/pairs/search/pair_filter.hpp"
#include "cpu/platform/aligned_buffer.hpp"

namespace gpu::cpu {

class wide_products final : public pair_filter {
 public:
  /// Steps of two columns of such ranks as below whose products are added in 32 bits before their
  /// sum is moved to doubles; at least 1.
  [[nodiscard]] static index_t steps_of_ranks(index_t cols);
  /// Rows of `cols` integers up to cols - 1.
  static std::unique_ptr<wide_products> of_ranks(const pair_kernels& kernels,
                                                 const std::int16_t* values, index_t rows,
                                                 index_t cols, int threads);
  /// Rows of values / lengths[row], or of values of unit length where `lengths` is null, rounded.
  /// They start `stride` elements apart.
  template <class T>
  static std::unique_ptr<wide_products> rounded(const pair_kernels& kernels, const T* values,
                                                index_t rows, index_t cols, index_t stride,
                                                const double* lengths, int threads);

  /// The sums of `block`, whose first column starts two groups, to
  /// out[(row - row_begin) * block_cols + (col - col_begin)]; up to whole groups of columns.
  void sums(const pair_tile& block, double* out) const { sums(block, block.rows(), out); }
  /// The same, but 0 for some of those with row >= col.
  void upper_sums(const pair_tile& block, double* out) const {
    sums(block, block.col_begin - block.row_begin, out);
  }

  [[nodiscard]] double error() const override { return error_; }
  void search(const pair_tile& tile, const pair_cut& cut, pair_scratch& scratch,
              const exact_test& test) const override;
  void above(const pair_tile& tile, const double* bars, bool by_magnitude, pair_scratch& scratch,
             const exact_test& test) const override;
  std::uint64_t count(const pair_tile& tile, const pair_cut& cut, pair_scratch& scratch,
                      const exact_test& test, std::uint32_t* row_degree,
                      std::uint32_t* col_degree) const override;

 private:
  wide_products(const pair_kernels& kernels, index_t rows, index_t cols, index_t exact_steps);
  void sums(const pair_tile& block, index_t diagonal, double* out) const;
  // The sum of a pair whose statistic is `statistic` by as much as may be `off`.
  [[nodiscard]] double sum_at(double statistic, double off) const {
    return (statistic + off) * square_scale_;
  }
  // fill(row, begin, end, out) writes the values of columns [begin, end) of a row.
  template <class Fill>
  void pack(int threads, const Fill& fill);

  const pair_kernels& kernels_;
  index_t rows_;
  index_t cols_;
  index_t steps_;
  index_t exact_steps_;
  double square_scale_ = 1;  // what a sum is divided by to be about the statistic
  double error_ = 0;         // the most by which it then differs
  aligned_buffer<std::uint8_t> data_;
};

}  // namespace gpu::cpu
