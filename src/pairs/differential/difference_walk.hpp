#pragma once
// Blocks of pairs with their statistics over two groups of columns.

#include <algorithm>
#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include <gpu/differential.hpp>
#include <gpu/execution.hpp>
#include <gpu/matrix.hpp>

#include "base/index_range.hpp"
#include "pairs/area.hpp"
#include "pairs/differential/difference_engine.hpp"
#include "pairs/reading/host_rows.hpp"

namespace gpu::inline v0::detail {

inline constexpr index_t least_group_cols = 4;
/// At least so many columns in each group, no column twice, all of them of the table.
/// @throw gpu::invalid_argument
void check_groups(const column_groups& groups, index_t cols);

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
  std::function<rows_without_statistic(const any_table& rows)> look_at = {};
  /// Of every row of x with every row of y, or of x where there is none.
  std::function<void(const pair_tables& tables, matrix_view<double> out)> fill = {};
  std::function<std::unique_ptr<difference_engine>(const std::array<column_group, 2>& groups)>
      on_device = {};
};

/// Rows and columns of a block of pairs, and the bytes that the walk needs for it.
struct block_shape {
  index_t rows = 0;
  std::size_t bytes = 0;
};

/// The shape of the blocks of `area` for groups of so many columns together: with a `limit` of
/// bytes such that a quarter of them do, the others are for the statistics, or the smallest blocks;
/// 0: no limit.
block_shape block_shape_of(const pair_area& area, index_t group_cols, std::size_t limit);

/// How a walk over pairs is done.
struct walk_settings {
  bool refuses_nan = false;
  execution exec = {};
  double standard_error = 1;
  index_t block_rows = 0;  ///< As block_shape_of() says; on a device without meaning.
};

/// The rows of both groups of a call, and the walk over the pairs of its part.
class difference_walk {
 public:
  using block_taker = std::function<void(const statistics_block&)>;

  /// Looks at every row of the table, which outlives this, whatever the part. `area` is an
  /// area of one table.
  difference_walk(const any_table& data, const column_groups& groups, const pair_area& area,
                  walk_settings settings, statistics_maker maker);

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
  [[nodiscard]] int threads() const { return threads_; }
  [[nodiscard]] double standard_error() const { return settings_.standard_error; }
  /// Pairs of the whole job with a statistic in both groups.
  [[nodiscard]] std::uint64_t family() const {
    return pairs_in({area_.cols, area_.cols}, without_);
  }
  /// What is known of the call before its pairs.
  [[nodiscard]] const differential_summary& summary() const { return summary_; }

 private:
  [[nodiscard]] std::array<rows_without_statistic, 2> look_at_groups() const;
  class block_walk;

  pair_area area_;
  host_rows table_;  // none of a table in device memory
  column_groups groups_;
  statistics_maker maker_;
  walk_settings settings_;
  int threads_;
  std::array<matrix<double>, 2> sent_;  // both groups of a table in host memory, to a device
  std::unique_ptr<difference_engine> on_device_;
  std::vector<index_t> without_;  // the rows without a statistic, ascending
  differential_summary summary_;
};

}  // namespace gpu::inline v0::detail
