#pragma once
// Blocks of pairs with their statistics over two groups of columns.

#include <algorithm>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <gpu/differential.hpp>
#include <gpu/execution.hpp>
#include <gpu/matrix.hpp>

#include "base/index_range.hpp"
#include "pairs/area.hpp"
#include "pairs/differential/difference_engine.hpp"

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

/// What computes statistics of rows: the first two functions, or the last one alone.
struct statistics_maker {
  std::function<rows_without_statistic(matrix_view<const double> rows)> look_at;
  /// Of every row of x with every row of y, which may be x itself.
  std::function<void(matrix_view<const double> x, matrix_view<const double> y,
                     matrix_view<double> out)>
      fill;
  /// Of both groups, [rows, columns of the group].
  std::function<std::unique_ptr<difference_engine>(matrix_view<const double> first,
                                                   matrix_view<const double> second)>
      on_device;
};

/// How a walk over pairs is done.
struct walk_settings {
  nan_policy nans = nan_policy::reject;
  int threads = 1;  ///< Exactly as many.
  progress_callback on_progress = {};
  double standard_error = 1;
};

/// The rows of both groups of a call, and the walk over the pairs of its part.
class difference_walk {
 public:
  using block_taker = std::function<void(const statistics_block&)>;

  /// Reads the table, which is in host memory, once, whatever the part. `area` is that of one
  /// table.
  difference_walk(const any_table& data, const column_groups& groups, const pair_area& area,
                  walk_settings settings, statistics_maker maker);
  /// Of a table that `engine` has read.
  difference_walk(const column_groups& groups, const pair_area& area, walk_settings settings,
                  std::unique_ptr<difference_engine> engine);

  /// What finds the pairs of the walk on a device; null where they come in blocks, by the two
  /// functions below.
  [[nodiscard]] difference_engine* on_device() const { return on_device_.get(); }
  /// take(block) for the pairs of a row of the panel with all later rows: blocks of rows ascending,
  /// in each the blocks of columns ascending.
  void for_each_block(const block_taker& take) const;
  /// take(block) for the pairs that have one row of the panel or two: those of an earlier row with
  /// the panel first, then those of for_each_block(). Every block has earlier rows as its rows.
  void for_each_block_of_panel(const block_taker& take) const;

  /// Of the table.
  [[nodiscard]] index_t rows() const { return area_.cols.size(); }
  /// The rows of the part.
  [[nodiscard]] const index_range& panel() const { return area_.rows; }
  [[nodiscard]] int threads() const { return settings_.threads; }
  [[nodiscard]] double standard_error() const { return settings_.standard_error; }
  /// Pairs of the whole job with a statistic in both groups.
  [[nodiscard]] std::uint64_t family() const;
  /// What is known of the call before its pairs.
  [[nodiscard]] differential_summary summary() const;

 private:
  void note_rows_without_statistic(const rows_without_statistic& first,
                                   const rows_without_statistic& second);
  /// The rows without a statistic, ascending.
  [[nodiscard]] std::vector<index_t> left_out() const;
  void fill(const matrix<double>& group, index_range rows, index_range cols,
            std::vector<double>& out) const;
  class block_walk;

  pair_area area_;
  index_t first_cols_;
  index_t second_cols_;
  statistics_maker maker_;
  std::unique_ptr<difference_engine> on_device_;
  walk_settings settings_;
  matrix<double> first_;  // [rows, columns of the group], of a table in host memory
  matrix<double> second_;
  std::vector<index_t> constant_rows_;
  std::vector<index_t> nan_rows_;
  std::string device_;
};

}  // namespace gpu::inline v0::detail
