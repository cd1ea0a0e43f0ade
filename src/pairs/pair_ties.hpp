#pragma once
// Kendall's test of pairs: the ties of every row, and the cuts and p that follow from those of both
// rows of a pair.

#include <memory>
#include <utility>
#include <vector>

#include <gpu/detail/all_pairs.hpp>
#include <gpu/index.hpp>
#include <gpu/p_value.hpp>

#include "base/keep_range.hpp"
#include "stats/significance/kendall_test.hpp"

namespace gpu::inline v0::detail {

class host_prepared_table;

/// The ties of the rows of `tables` in host memory, those of y behind those of x. Reads them once,
/// in parallel. Zeros of a row with a NaN.
std::vector<row_ties> find_ties(const pair_tables& tables, int threads);

/// The same of rows that were prepared.
std::vector<row_ties> find_ties(const host_prepared_table& data);

/// What is kept of pairs whose p depends on their ties.
struct tied_cut {
  const stats::kendall_cut* p;
  keep_range keep;  ///< Of the statistic.
};

/// What a call of such a measure knows of its rows.
struct tied_rows {
  tied_rows(std::vector<row_ties> of_rows, index_t cols, index_t first_col_of_area)
      : ties(std::move(of_rows)), first_col(first_col_of_area), test(cols) {}

  std::vector<row_ties> ties;
  index_t first_col;  ///< The row that the first column of the area is.
  stats::kendall_test test;
  // Once the cut is resolved.
  tail side = tail::two_sided;
  std::unique_ptr<stats::kendall_cut> cut_of_p = {};
  tied_cut cut = {};

  /// Once the cut is resolved: p of a pair; `col` counts from first_col.
  [[nodiscard]] double p(double statistic, index_t row, index_t col) const {
    const row_ties& x = ties[static_cast<std::size_t>(row)];
    const row_ties& y = ties[static_cast<std::size_t>(first_col + col)];
    return test.p(test.sum_of(statistic, x, y), x, y, side);
  }
};

}  // namespace gpu::inline v0::detail
