#pragma once
// Tests of pairs that depend on ties, Kendall's and that of ranks by permutations: the ties of
// every row, and the cuts and p that follow from those of both rows of a pair.

#include <cstddef>
#include <memory>
#include <variant>
#include <vector>

#include <gpu/detail/all_pairs.hpp>
#include <gpu/index.hpp>
#include <gpu/measure.hpp>
#include <gpu/p_value.hpp>

#include "base/keep_range.hpp"
#include "stats/significance/kendall_test.hpp"
#include "stats/significance/spearman_test.hpp"

namespace gpu::inline v0::detail {

class host_prepared_table;
class shared_kendall_cut;

/// The ties of the rows of `tables` in host memory, those of y behind those of x. Reads them once,
/// in parallel. Zeros of a row with a NaN.
std::vector<row_ties> find_ties(const pair_tables& tables, int threads);

/// The same of rows that were prepared.
std::vector<row_ties> find_ties(const host_prepared_table& data, int threads);

/// What is kept of pairs whose p depends on their ties.
struct tied_cut {
  const stats::kendall_cut* p = nullptr;  ///< Of Kendall's tau; null: of ranks, or `shared`.
  /// Of Kendall's tau of rows with missing values, by the columns that a pair shares.
  const shared_kendall_cut* shared = nullptr;
  keep_range keep{0.0, 0.0};  ///< Of tau, beside p.
  stats::rank_cuts ranks = {};
};

/// p by ties as counting passes bin it: one of them, or none. no_p stands for a pair of `shared`
/// that has no statistic.
struct tied_bins {
  const stats::kendall_cut* kendall = nullptr;
  const shared_kendall_cut* shared = nullptr;
  const stats::spearman_cut* ranks = nullptr;

  [[nodiscard]] bool is_empty() const {
    return kendall == nullptr && shared == nullptr && ranks == nullptr;
  }
};

/// What a call of such a measure knows of its rows.
class tied_rows {
 public:
  /// `test` is kendall or permutations; `ties` are those of all rows, of y behind those of x.
  tied_rows(significance test, std::vector<row_ties> ties, index_t cols, index_t first_col_of_area);

  /// Of all rows, those of y behind those of x.
  [[nodiscard]] const std::vector<row_ties>& ties() const { return ties_; }
  /// Rows that have any, ascending.
  [[nodiscard]] std::vector<index_t> rows_with_ties() const;
  /// The cut that was taken last; at first one that keeps every pair. An adjusted cut follows from
  /// counting passes over these rows, so it is not there when they are.
  [[nodiscard]] const tied_cut& cut() const { return cut_; }
  /// p of a pair, of the side of that cut, at first two-sided; `col` counts from the first column
  /// of the area.
  [[nodiscard]] double p(double statistic, index_t row, index_t col) const;

  using any_test = std::variant<stats::kendall_test, stats::spearman_test>;
  [[nodiscard]] const any_test& test() const { return test_; }
  /// Takes a cut that follows from max_p.
  void set_cut(tail side, std::unique_ptr<stats::kendall_cut> kendall, const tied_cut& cut);

 private:
  std::vector<row_ties> ties_;
  index_t first_col_;  // the row that the first column of the area is
  any_test test_;
  tail side_ = tail::two_sided;
  std::unique_ptr<stats::kendall_cut> kendall_cut_;
  tied_cut cut_;
};

}  // namespace gpu::inline v0::detail
