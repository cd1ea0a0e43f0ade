#pragma once
// Rows with missing values: each pair takes the columns that both of its rows have. A block of
// statistics is computed, and what a sink asks for is put in their place: NaN for a pair that the
// cut of its number of columns drops, or p where p is binned.

#include <cstdint>
#include <memory>
#include <vector>

#include "cpu/pairs/pairwise/row_masks.hpp"
#include "cpu/pairs/rows/decided_rows.hpp"
#include "cpu/pairs/rows/unit_row.hpp"
#include "pairs/observations.hpp"

namespace gpu::cpu {

class pairwise_rows : public decided_rows {
 public:
  [[nodiscard]] index_t size() const final { return rows_; }
  [[nodiscard]] std::size_t kernel_bytes() const override;
  [[nodiscard]] std::string explain() const override {
    return "every pair is decided over the columns that its rows share";
  }
  void statistics(const pair_task& task, const pair_tile& tile, pair_scratch& scratch,
                  double* out) const override;

 protected:
  pairwise_rows(index_t rows, index_t cols, index_t least_shared);

  [[nodiscard]] index_t cols() const { return cols_; }
  [[nodiscard]] index_t least_shared() const { return least_shared_; }
  [[nodiscard]] bool is_present(index_t row, index_t col) const { return is_there(bits(row), col); }
  [[nodiscard]] static bool is_there(const std::uint64_t* bits, index_t col) {
    return (bits[col / 64] >> (col % 64) & 1) != 0;
  }
  [[nodiscard]] const std::uint64_t* bits(index_t row) const {
    return bits_.data() + static_cast<std::size_t>(row * words_);
  }
  [[nodiscard]] row_masks find_masks(index_t most) const { return {bits_, words_, most}; }
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
  index_t least_shared_;
  std::vector<std::uint64_t> bits_;
};

/// Rows whose p follows from the statistic of a pair and the number of columns that it shares.
/// Where few masks occur, what a row is over the columns that it shares with the rows of each mask
/// is computed once for all of them, and a pair takes one sum of products.
class counted_pairwise_rows : public pairwise_rows {
 public:
  [[nodiscard]] std::string explain() const final;
  void statistics(const pair_task& task, const pair_tile& tile, pair_scratch& scratch,
                  double* out) const final;
  [[nodiscard]] bool finds_above() const final { return has_masks(); }
  void above(const pair_task& task, const pair_tile& tile, const double* bars,
             pair_scratch& scratch, pair_visitor visit) const final;

 protected:
  using pairwise_rows::pairwise_rows;

  [[nodiscard]] bool has_masks() const { return !masks_.is_empty(); }
  [[nodiscard]] const row_masks& masks() const { return masks_; }
  /// Tells the masks apart where that pays and what follows fits `most_bytes`: for each row and
  /// mask `bytes`, and 16 bytes here. True where reduce_to_masks() has to follow.
  bool take_masks(std::size_t bytes, std::size_t most_bytes);
  /// Calls reduce() for every row and mask.
  void reduce_to_masks(int threads);

  /// Statistics of the pairs, as decide() has them; those of pairs that share fewer than
  /// least_shared() columns may be anything.
  virtual void compute(const pair_tile& tile, const double* counts, std::byte* memory,
                       double* out) const = 0;
  /// Keeps what row i is over the `shared` columns that it shares with rows of `mask`, and returns
  /// its sum of squares around the mean there; 0 where decide_anew has to decide its pairs. Those
  /// that share fewer than least_shared() columns may be anything. Called by several threads,
  /// each with its number.
  virtual double reduce(index_t i, index_t mask, index_t shared, int thread) = 0;
  /// The kernel over these rows, which it may complete. `memory` has room for a double of each row
  /// and mask.
  virtual void visit_by_masks(const pair_tile& tile, mask_row* rows, double* memory, double* out,
                              mask_visitor visit) const = 0;
  /// The statistic of a pair with a sum of squares of 0.
  [[nodiscard]] virtual double decide_anew(index_t i, index_t j, index_t shared) const = 0;

 private:
  void decide(const pair_task& task, const pair_tile& tile, const double* counts, std::byte* memory,
              double* out) const final;
  /// Where `bars` are given, pairs whose statistic is of a smaller magnitude than the bar of their
  /// row may be left out.
  void decide_by_masks(const pair_task& task, const pair_tile& tile, const double* bars,
                       pair_scratch& scratch, double* out) const;
  [[nodiscard]] double taken(const pair_task& task, double statistic, index_t shared) const;
  /// No pair of `shared` columns whose statistic is of a smaller magnitude is taken.
  [[nodiscard]] double least_taken(const pair_task& task, index_t shared) const;
  [[nodiscard]] double square_of(index_t i, index_t mask) const {
    return squares_[static_cast<std::size_t>(mask * size() + i)];
  }

  row_masks masks_;
  aligned_buffer<double> squares_;  // [masks, rows]
  aligned_buffer<double> roots_;    // their square roots
};

/// Bytes of what is kept of a row for a mask beside its sum of squares.
constexpr std::size_t mask_rank_bytes(index_t cols) {
  return static_cast<std::size_t>(round_up(cols, index_t{pairwise_rank_padding})) *
         sizeof(std::int16_t);
}
inline constexpr std::size_t mask_value_bytes = 2 * sizeof(double);
/// A transformed row.
constexpr std::size_t mask_transformed_bytes(index_t cols) {
  return static_cast<std::size_t>(unit_row_stride(cols)) * sizeof(double);
}
/// The values of a row in their order, and a bit for each.
constexpr std::size_t biweight_order_bytes(index_t cols) {
  return mask_transformed_bytes(cols) +
         static_cast<std::size_t>((cols + 63) / 64) * sizeof(std::uint64_t);
}
/// Two rows of a pair, and what one of them is made from.
constexpr std::size_t biweight_scratch_bytes(index_t cols) {
  return 2 * mask_transformed_bytes(cols) + biweight_order_bytes(cols);
}

/// Values of the rows that are packed, one row behind the other as doubles.
using double_rows = aligned_buffer<double>;

/// Packs rows of `cols` values, `pitch` apart, NaN where one is missing.
std::unique_ptr<pair_rows> make_pairwise_rank_rows(const double* values, index_t rows, index_t cols,
                                                   const row_options& options);
std::unique_ptr<pair_rows> make_pairwise_sign_rows(const double* values, index_t rows, index_t cols,
                                                   const row_options& options);
std::unique_ptr<pair_rows> make_pairwise_value_rows(double_rows values, index_t rows, index_t cols,
                                                    const row_options& options);
std::unique_ptr<pair_rows> make_pairwise_biweight_rows(double_rows values, index_t rows,
                                                       index_t cols, const row_options& options);

/// Bytes of what is packed of the values of a row of signs; of what a thread needs of them for
/// pairs, and to pack rows.
std::size_t pairwise_sign_bytes(index_t cols);
std::size_t pairwise_sign_scratch_bytes(index_t cols);
std::size_t pairwise_sign_packing_bytes(index_t cols);

/// What rows of so many columns take.
struct pairwise_bytes {
  std::size_t row;      ///< A packed row, its values as they are read included.
  std::size_t masks;    ///< At most: what a row is over the columns of each mask.
  std::size_t scratch;  ///< Of a thread, beside the statistics.
  std::size_t packing;  ///< Of a thread that packs rows.
};
pairwise_bytes pairwise_bytes_of(const detail::measure_traits& what, index_t cols);

}  // namespace gpu::cpu
