#pragma once
// The test of Spearman's rho by the permutations of one row: the distribution of S, the sum of the
// squared differences of two rows of ranks.

#include <algorithm>
#include <cstdint>
#include <limits>
#include <memory>
#include <vector>

#include <gpu/index.hpp>
#include <gpu/pair_sinks.hpp>

#include "base/keep_range.hpp"
#include "stats/bins.hpp"
#include "stats/significance/least_rank_p.hpp"
#include "stats/significance/p_table.hpp"

namespace gpu::stats {

/// p of rho for one number of observations. A pair has the larger class of its rows (tie_classes):
/// in class 0 neither has ties, and p is that of S; in others it is that of t, but at least that of
/// the class. Safe to share between threads.
class spearman_test {
 public:
  /// @param observations at least 3. Of more than most_observations rows without ties have p of t.
  explicit spearman_test(index_t observations);

  static constexpr index_t most_observations = 1290;
  [[nodiscard]] index_t observations() const { return observations_; }
  /// p of the statistic of two rows; NaN gives NaN.
  [[nodiscard]] double p(double rho, int of_class, tail side) const;
  [[nodiscard]] const tie_classes& classes() const { return classes_; }
  [[nodiscard]] int class_of(const row_ties& x, const row_ties& y) const {
    return std::max(classes_.of(tie_sum(x)), classes_.of(tie_sum(y)));
  }
  /// rho of two rows without ties whose sum of squared differences is `s`; at most
  /// most_observations.
  [[nodiscard]] double rho_of_sum(std::int64_t s) const;
  /// The mean of that sum, which is at most twice as large and even.
  [[nodiscard]] std::int64_t mean_sum() const { return centre_; }
  /// The weakest statistic in the direction of `side` whose p is at most `max_p`; infinite, with
  /// the sign of the side, where there is none.
  [[nodiscard]] double weakest(double max_p, int of_class, tail side) const;
  /// The last class whose least p is at most `max_p`; 0 where none is.
  [[nodiscard]] int last_class(double max_p, tail side) const;

 private:
  // S never exceeds twice the centre, and is even.
  [[nodiscard]] double p_of_sum(std::int64_t s, tail side) const;
  [[nodiscard]] double greater_p(std::int64_t s) const;
  // P(S <= s), s at most the centre.
  [[nodiscard]] double at_most(std::int64_t s) const;
  struct series_value {
    double normal;
    double p;
    // Farther out the terms of the series cancel the leading one, and p would end at 0. Up to here
    // it is within a tenth of what counted and drawn permutations say (22 % at worst, of 10
    // columns).
    [[nodiscard]] bool converges() const { return p >= 0.15 * normal; }
  };
  [[nodiscard]] series_value series(std::int64_t s) const;
  [[nodiscard]] double t_p(std::int64_t s) const;
  void find_least_of_series();
  [[nodiscard]] double weakest_by_permutations(double max_p, tail side) const;
  [[nodiscard]] bool is_by_permutations(int of_class) const {
    return of_class == 0 && observations_ <= most_observations;
  }

  index_t observations_;
  std::int64_t centre_;  // the mean of S
  tie_classes classes_;
  std::shared_ptr<const p_table> t_;
  std::shared_ptr<const p_table> floored_t_;
  std::vector<double> table_;         // of S = 0, 2, ..., of few observations
  std::int64_t least_of_series_ = 0;  // the least S that the series is taken for
  double p_there_ = 0;
  double scale_of_t_ = 0;    // of p of t below it
  double least_of_all_ = 0;  // P(S = 0)
};

/// What is kept of pairs of rows of ranks, by their class.
struct rank_cuts {
  detail::keep_range permutations{0.0, 0.0};  ///< Of class 0.
  detail::keep_range student_t{0.0, 0.0};     ///< Of the others up to last_class; beyond none.
  int last_class = std::numeric_limits<int>::max();

  [[nodiscard]] detail::keep_range of(int of_class) const {
    constexpr double infinity = std::numeric_limits<double>::infinity();
    if (of_class == 0) return permutations;
    return of_class <= last_class ? student_t : detail::keep_range{infinity, -infinity};
  }
};

/// Whether p of a pair is at most a cut, without computing p.
class spearman_cut {
 public:
  /// `test` outlives this.
  spearman_cut(const spearman_test& test, double max_p, tail side);

  [[nodiscard]] const spearman_test& test() const { return test_; }
  [[nodiscard]] tail side() const { return side_; }
  /// The key of the statistic that p never grows with.
  [[nodiscard]] detail::bin_key key() const {
    if (side_ == tail::two_sided) return detail::bin_key::magnitude;
    return side_ == tail::greater ? detail::bin_key::value : detail::bin_key::negated_value;
  }
  [[nodiscard]] const rank_cuts& cuts() const { return cuts_; }
  /// p of a pair that it keeps; 1 of others.
  [[nodiscard]] double p_within(double rho, int of_class) const {
    return cuts_.of(of_class).keeps(rho) ? test_.p(rho, of_class, side_) : 1.0;
  }

 private:
  const spearman_test& test_;
  tail side_;
  rank_cuts cuts_;
};

/// [bins + 1], ascending: from the key at place k on, the place of p_within is above k; infinite
/// where no rho has such a p, -infinite where every rho has. Keys are those of within.key().
[[nodiscard]] std::vector<double> steps_of(const spearman_cut& within, int of_class,
                                           const detail::p_bins& bins, int threads);

/// The most steps that a pair with a row of a tie sum reaches, by tie sum: the place of the least p
/// of its class. Empty where ties do not count.
[[nodiscard]] std::vector<std::int32_t> most_steps(const spearman_cut& within,
                                                   const detail::p_bins& bins);

}  // namespace gpu::stats
