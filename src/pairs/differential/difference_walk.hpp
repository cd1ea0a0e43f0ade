#pragma once
// Blocks of pairs with their statistics over two groups of columns.

#include <algorithm>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include <gpu/differential.hpp>
#include <gpu/execution.hpp>
#include <gpu/matrix.hpp>

#include "base/index_range.hpp"

namespace gpu::inline v0::detail {

/// A block of pairs (i, j): those with i < j count, and both statistics of the others are there
/// too.
struct statistics_block {
  index_range rows;
  index_range cols;
  const double* first;   ///< [rows, cols], NaN where a row has none.
  const double* second;  ///< The same over the second group.

  /// The first column that counts in row i, from cols.begin.
  [[nodiscard]] index_t first_col(index_t i) const {
    return std::max<index_t>(0, i + 1 - cols.begin);
  }
};

/// Rows without a statistic, ascending, and what computed that.
struct rows_without_statistic {
  std::vector<index_t> constant;
  std::vector<index_t> with_nan;
  std::string device;
};

/// What computes statistics of rows.
struct statistics_maker {
  std::function<rows_without_statistic(matrix_view<const double> rows)> look_at;
  /// Of every row of x with every row of y, which may be x itself.
  std::function<void(matrix_view<const double> x, matrix_view<const double> y,
                     matrix_view<double> out)>
      fill;
};

/// At least 4 columns in each group, no column twice, all of them of the table.
void check_groups(const column_groups& groups, index_t cols);

/// The rows of both groups of a call, and the walk over their pairs.
class difference_walk {
 public:
  /// Reads the table once. `threads` are as many.
  difference_walk(const any_table& data, const column_groups& groups, nan_policy nans, int threads,
                  const progress_callback& on_progress, double standard_error,
                  statistics_maker maker);

  /// body(block) for all pairs: panels of rows ascending, in each the blocks of columns ascending.
  void for_each_block(const std::function<void(const statistics_block&)>& body) const;

  [[nodiscard]] index_t rows() const { return first_.rows(); }
  [[nodiscard]] int threads() const { return threads_; }
  [[nodiscard]] double standard_error() const { return standard_error_; }
  /// Pairs with a statistic in both groups.
  [[nodiscard]] std::uint64_t family() const;
  /// What is known of the call before its pairs.
  [[nodiscard]] differential_summary summary() const;

 private:
  void find_rows_without_statistic();
  void fill(const matrix<double>& group, index_range rows, index_range cols,
            std::vector<double>& out) const;

  statistics_maker maker_;
  progress_callback on_progress_;
  int threads_;
  double standard_error_;
  matrix<double> first_;  // [rows, columns of the group]
  matrix<double> second_;
  std::vector<index_t> constant_rows_;
  std::vector<index_t> nan_rows_;
  std::string device_;
};

}  // namespace gpu::inline v0::detail
