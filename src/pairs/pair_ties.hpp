#pragma once
// Tests of pairs that depend on ties, Kendall's and that of ranks by permutations: the ties of
// every row, and what follows from those of both rows of a pair.

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

}  // namespace gpu::inline v0::detail
