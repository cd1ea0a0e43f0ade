#pragma once
// What the columns of a call stand for: how much each counts, and what is known of them beforehand.
// With either, the statistic of a measure is the cosine of rows that were changed one by one.

#include <optional>
#include <vector>

#include <gpu/detail/any_view.hpp>
#include <gpu/index.hpp>
#include <gpu/matrix_view.hpp>
#include <gpu/pair_options.hpp>

#include "pairs/measures/measures.hpp"
#include "pairs/reading/computed_rows.hpp"
#include "pairs/reading/host_rows.hpp"
#include "stats/orthonormal_rows.hpp"

namespace gpu::inline v0::detail {

/// The covariates and weights of a call, checked and made ready. Every row, and every covariate,
/// loses its weighted mean, is multiplied by the roots of the weights, and a row then loses its
/// least squares fit on the covariates. Sums have a fixed order: the same bits on every processor.
class column_model {
 public:
  /// Of tables of `cols` columns, by options.covariates, column_weights and effective_observations.
  /// Copies what it keeps.
  /// @throw as gpu::pair_options says.
  column_model(const measure_traits& complete, index_t cols, const pair_options& options);

  /// The measure of rows that take() changed.
  [[nodiscard]] const measure_traits& traits() const { return traits_; }
  /// Whether rows are ranked before take().
  [[nodiscard]] bool takes_ranks() const { return takes_ranks_; }
  [[nodiscard]] index_t cols() const { return cols_; }
  /// Whether the options name the same covariates and weights, value by value.
  [[nodiscard]] bool is_of(const pair_options& options) const;

  /// Changes a row [cols] of values, of ranks centred about 0 where takes_ranks(). A row without a
  /// statistic becomes zeros; one with a NaN or an infinity stays as it is.
  void take(double* row) const;

 private:
  // The lengths of a row, as multiples of what it is now, before and after it lost its mean.
  struct lengths {
    double whole;
    double about_mean;
  };
  void keep_weights(const measure_traits& complete, const pair_options& options);
  void keep_covariates(const pair_options& options);
  [[nodiscard]] bool counts(index_t col) const;
  [[nodiscard]] bool varies(const double* row) const;
  [[nodiscard]] double mean_of(const double* row) const;
  // Nothing where no value differs from another one that counts.
  [[nodiscard]] std::optional<lengths> centre(double* row) const;

  index_t cols_;
  bool takes_ranks_;
  bool centres_;
  measure_traits traits_;
  std::vector<double> covariates_;  // [covariates, cols], as they were given
  std::vector<double> given_weights_;
  std::vector<double> weights_;  // the same, scaled; empty: all equal
  std::vector<double> roots_;    // of weights_
  index_t positive_;             // columns that count
  double weight_sum_;
  stats::orthonormal_rows basis_;
};

/// The rows of a table in host memory as a model changes them, computed whenever they are read. The
/// table's data and the model outlive it.
class column_rows final : public computed_rows {
 public:
  column_rows(const any_table& table, const column_model& model)
      : table_(table), rows_(table), model_(model) {}

  [[nodiscard]] computed_view view() const { return {*this, rows_.rows(), rows_.cols()}; }
  [[nodiscard]] const any_table& source() const override { return table_; }
  void compute(index_range range, double* out, int threads) const override;

 private:
  any_table table_;
  host_rows rows_;
  const column_model& model_;
};

}  // namespace gpu::inline v0::detail
