#pragma once
// Tests of pairs that depend on ties, Kendall's and that of ranks by permutations: the ties of
// every row, and what follows from those of both rows of a pair.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include <gpu/detail/all_pairs.hpp>
#include <gpu/index.hpp>
#include <gpu/measure.hpp>
#include <gpu/p_value.hpp>
#include <gpu/pair_sinks.hpp>

#include "base/keep_range.hpp"
#include "pairs/observations.hpp"
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

// ---- Kendall's test of rows with missing values: each pair by the columns that both rows have

/// The equal values of a row, NaN where one is missing, and how many of them are left in the
/// columns that another row has.
class shared_row_ties {
 public:
  shared_row_ties() = default;
  /// @param order the columns of the values that are there, so that equal ones are side by side.
  template <class T>
  shared_row_ties(const T* values, const std::vector<std::uint32_t>& order);

  /// @param present a bit for each column.
  [[nodiscard]] row_ties within(const std::uint64_t* present) const;

 private:
  // Columns of a group of equal values, those of a word of `present` at a time.
  struct some_columns {
    std::uint64_t bits;
    std::uint32_t word;
    bool is_last;  // of its group
  };
  std::vector<some_columns> columns_;
};

/// The columns of the values of a row that are there, by value; equal ones in ascending order.
template <class T>
void order_columns(const T* values, index_t cols, std::vector<std::uint32_t>& out);

/// The ties of the rows of tables in host memory, those of y behind those of x. Reads them once,
/// in parallel.
std::vector<shared_row_ties> find_shared_ties(const pair_tables& tables, int threads);

/// Kendall's test of each number of columns that a pair can share, made when it is first asked for.
/// Safe to share between threads, and so are the cuts.
class shared_kendall_tests {
 public:
  shared_kendall_tests(index_t least, index_t most) : tests_(least, most), exact_(tests_.most()) {}

  [[nodiscard]] index_t least() const { return tests_.least(); }
  [[nodiscard]] index_t most() const { return tests_.most(); }
  [[nodiscard]] const stats::kendall_test& of(index_t shared) const {
    return *tests_.of(shared, [this](index_t n) {
      return std::make_unique<const stats::kendall_test>(n, exact_);
    });
  }

 private:
  by_observations<std::unique_ptr<const stats::kendall_test>> tests_;
  stats::exact_kendall exact_;
};

/// What p keeps of the pairs that share n columns.
class shared_kendall_cut {
 public:
  /// `tests` outlive this.
  shared_kendall_cut(const shared_kendall_tests& tests, double max_p, tail side)
      : tests_(tests), max_p_(max_p), side_(side), cuts_(tests.least(), tests.most()) {}

  [[nodiscard]] index_t least() const { return cuts_.least(); }
  [[nodiscard]] index_t most() const { return cuts_.most(); }
  [[nodiscard]] tail side() const { return side_; }
  [[nodiscard]] const stats::kendall_cut& of(index_t shared) const {
    return *cuts_.of(shared, [this](index_t n) {
      return std::make_unique<const stats::kendall_cut>(tests_.of(n), max_p_, side_);
    });
  }

 private:
  const shared_kendall_tests& tests_;
  double max_p_;
  tail side_;
  by_observations<std::unique_ptr<const stats::kendall_cut>> cuts_;
};

/// What a call of Kendall's tau over rows with missing values knows beside them.
class shared_kendall {
 public:
  /// Pairs with a statistic share at least `least` columns, and at most `most`.
  shared_kendall(std::vector<shared_row_ties> ties, index_t least, index_t most)
      : ties_(std::move(ties)), tests_(least, most) {}

  [[nodiscard]] const shared_kendall_tests& tests() const { return tests_; }
  /// p of two rows, which number from x on through y.
  [[nodiscard]] double p(double tau, const present_values& present, index_t x, index_t y,
                         tail side) const;
  /// The same of edges, whose col counts from row `first`, by `threads`; NaN where they have no
  /// tau, or share fewer columns than the tests begin with.
  [[nodiscard]] std::vector<double> p_of(std::span<const edge> edges, const present_values& present,
                                         index_t first, tail side, int threads) const;

 private:
  std::vector<shared_row_ties> ties_;
  shared_kendall_tests tests_;
};

}  // namespace gpu::inline v0::detail
