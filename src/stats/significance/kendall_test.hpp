#pragma once
// The test of Kendall's S, the concordant pairs of columns less the discordant ones.

#include <cstddef>
#include <cstdint>
#include <vector>

#include <gpu/index.hpp>
#include <gpu/p_value.hpp>
#include <gpu/pair_sinks.hpp>

#include "stats/significance/kendall_decision.hpp"

namespace gpu::stats {

/// p of a z of kendall_z, its sign turned so that it grows towards the tail.
[[nodiscard]] double normal_p(double z_towards_tail, tail side);

/// Counts a group of `size` equal values.
inline void add_group(row_ties& ties, std::int64_t size) {
  ties.pairs += size * (size - 1) / 2;
  ties.triples += size * (size - 1) * (size - 2);
}

/// The exact probabilities of rows without ties, for each number of observations that has them:
/// each follows from those of one observation less. Tests of several numbers share them.
class exact_kendall {
 public:
  /// Those of up to `most` observations.
  explicit exact_kendall(index_t most);
  /// The probabilities of at most 0, 1, ... discordant pairs.
  [[nodiscard]] const std::vector<double>& at_most(index_t observations) const {
    return at_most_[static_cast<std::size_t>(observations)];
  }

 private:
  std::vector<std::vector<double>> at_most_;  // of 0 observations on
};

/// p of S for one number of observations. Safe to share between threads.
class kendall_test {
 public:
  /// @param observations from 3 to 10^6.
  explicit kendall_test(index_t observations);
  /// @param exact of as many observations at least
  kendall_test(index_t observations, const exact_kendall& exact);

  [[nodiscard]] index_t observations() const { return observations_; }
  /// Pairs of columns.
  [[nodiscard]] std::int64_t pairs() const { return pairs_; }
  /// Whether p of so large or small an S of two rows without ties is exact.
  [[nodiscard]] bool is_exact(std::int64_t s) const {
    return exact_for_all_ || pairs_ - (s < 0 ? -s : s) <= 2;
  }
  /// The variance of S where the columns of one row are permuted at random.
  [[nodiscard]] double variance(const row_ties& x, const row_ties& y) const;
  /// S of two rows whose tau-b was computed.
  [[nodiscard]] std::int64_t sum_of(double tau, const row_ties& x, const row_ties& y) const;
  [[nodiscard]] double p(std::int64_t s, const row_ties& x, const row_ties& y, tail side) const;

 private:
  // The probability of at most so many discordant pairs, of rows without ties.
  [[nodiscard]] double at_most(std::int64_t discordant) const;
  [[nodiscard]] double exact_p(std::int64_t s, tail side) const;

  index_t observations_;
  std::int64_t pairs_;
  bool exact_for_all_;
  std::vector<double> at_most_;  // of 0 on; of few where only these are exact
};

/// Whether p of a pair is at most a cut; mostly without computing p.
class kendall_cut {
 public:
  /// `test` outlives this.
  kendall_cut(const kendall_test& test, double max_p, tail side);

  [[nodiscard]] const kendall_test& test() const { return test_; }
  [[nodiscard]] double max_p() const { return max_p_; }
  [[nodiscard]] tail side() const { return side_; }
  [[nodiscard]] bool keeps_all() const { return keeps_all_; }
  /// p(s) <= max_p.
  [[nodiscard]] bool keeps(std::int64_t s, const row_ties& x, const row_ties& y) const {
    if (keeps_all_) return true;
    if (x.pairs == 0 && y.pairs == 0 && test_.is_exact(s)) return decide(s, x, y);
    if (!is_screened_) return decide(s, x, y);
    const std::int64_t d = directed(s);
    if (d <= 0) return false;
    const double square = static_cast<double>(d) * static_cast<double>(d);
    const double variance = test_.variance(x, y);
    if (square < drops_below_ * variance) return false;
    return square > keeps_above_ * variance || decide(s, x, y);
  }
  /// Whether least_squares() tells most of the pairs that it drops.
  [[nodiscard]] bool is_screened() const { return is_screened_; }
  /// Of a row with ties `x` and `count` rows of so many tied pairs and triples: pairs whose S is
  /// on the other side, or whose S^2 is below `out`, are dropped.
  void least_squares(const row_ties& x, const double* pairs, const double* triples, index_t count,
                     double* out) const;
  /// p of a pair that it keeps; 1 of others.
  [[nodiscard]] double p_within(std::int64_t s, const row_ties& x, const row_ties& y) const {
    return keeps(s, x, y) ? test_.p(s, x, y, side_) : 1.0;
  }
  /// The weakest tau of rows without ties that it keeps, as critical_value gives it; infinite, with
  /// the sign of the side, where it keeps none.
  [[nodiscard]] double weakest_untied() const;
  /// The least S in the direction of the side, of rows without ties, that it keeps; beyond all
  /// where it keeps none.
  [[nodiscard]] std::int64_t least_untied() const;

 private:
  [[nodiscard]] bool decide(std::int64_t s, const row_ties& x, const row_ties& y) const {
    return test_.p(s, x, y, side_) <= max_p_;
  }
  [[nodiscard]] std::int64_t directed(std::int64_t s) const {
    if (side_ == tail::two_sided) return s < 0 ? -s : s;
    return side_ == tail::greater ? s : -s;
  }

  const kendall_test& test_;
  double max_p_;
  tail side_;
  bool keeps_all_;
  bool is_screened_;        // whether squares of S beside the variance decide most pairs
  double drops_below_ = 0;  // of squares of S in units of the variance
  double keeps_above_ = 0;
  double least_untied_square_ = 0;
};

}  // namespace gpu::stats
