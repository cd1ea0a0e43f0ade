#pragma once
// Rows with missing values: each pair takes the columns that both of its rows have. A block of
// statistics is computed, and what a sink asks for is put in their place: NaN for a pair that the
// cut of its number of columns drops, or p where p is binned.

#include <cstdint>
#include <memory>
#include <vector>

#include "cpu/pairs/rows/decided_rows.hpp"
#include "pairs/observations.hpp"

namespace gpu::cpu {

class pairwise_rows : public decided_rows {
 public:
  [[nodiscard]] index_t size() const final { return rows_; }
  [[nodiscard]] std::size_t kernel_bytes() const override;
  [[nodiscard]] std::string explain() const final {
    return "every pair is decided over the columns that its rows share";
  }
  void statistics(const pair_task& task, const pair_tile& tile, pair_scratch& scratch,
                  double* out) const final;

 protected:
  pairwise_rows(index_t rows, index_t cols, index_t min_observations);

  [[nodiscard]] index_t cols() const { return cols_; }
  [[nodiscard]] index_t min_observations() const { return min_observations_; }
  [[nodiscard]] bool is_present(index_t row, index_t col) const {
    return (bits(row)[col / 64] >> (col % 64) & 1) != 0;
  }
  [[nodiscard]] const std::uint64_t* bits(index_t row) const {
    return bits_.data() + static_cast<std::size_t>(row * words_);
  }
  /// Notes which of the values of a row are there.
  void set_bits(index_t row, const double* values);

  /// What `task` wants of the tile's pairs to out, as `statistics` lays them out; so are the
  /// `counts` of shared columns. `memory` is what kernel_bytes() adds.
  virtual void decide(const pair_task& task, const pair_tile& tile, const double* counts,
                      std::byte* memory, double* out) const = 0;

 private:
  index_t rows_;
  index_t cols_;
  index_t words_;
  index_t min_observations_;
  std::vector<std::uint64_t> bits_;
};

/// Rows whose p follows from the statistic of a pair and the number of columns that it shares.
class counted_pairwise_rows : public pairwise_rows {
 protected:
  using pairwise_rows::pairwise_rows;

  /// Statistics of the pairs, as decide() has them; those of pairs that share fewer than
  /// min_observations() columns may be anything.
  virtual void compute(const pair_tile& tile, const double* counts, std::byte* memory,
                       double* out) const = 0;

 private:
  void decide(const pair_task& task, const pair_tile& tile, const double* counts, std::byte* memory,
              double* out) const final;
  [[nodiscard]] double taken(const pair_task& task, double statistic, index_t shared) const;
};

/// Values of the rows that are packed, one row behind the other as doubles.
using double_rows = aligned_buffer<double>;

/// Packs rows of `cols` values, `pitch` apart, NaN where one is missing.
std::unique_ptr<pair_rows> make_pairwise_rank_rows(const double* values, index_t rows, index_t cols,
                                                   const row_options& options);
std::unique_ptr<pair_rows> make_pairwise_sign_rows(const double* values, index_t rows, index_t cols,
                                                   const row_options& options);
std::unique_ptr<pair_rows> make_pairwise_value_rows(double_rows values, index_t rows, index_t cols,
                                                    const row_options& options);

/// Bytes of what is packed of the values of a row of signs, and of what a thread needs of them.
std::size_t pairwise_sign_bytes(index_t cols);
std::size_t pairwise_sign_scratch_bytes(index_t cols);

/// Bytes of a packed row.
std::size_t pairwise_row_bytes(const detail::measure_traits& what, index_t cols);
/// Bytes of a thread's scratch beside the statistics.
std::size_t pairwise_scratch_bytes(const detail::measure_traits& what, index_t cols);

}  // namespace gpu::cpu
