#pragma once
// What is taken of a pair by Kendall's test, in terms that a device has too: host and device
// compile the same expressions, and no product is fused with a sum.
//
// p of S is exact where neither row has ties and there are few columns, or few pairs of columns
// that differ; such p come from a table. Else p is a function of z = S / sqrt(2 variance) that
// never grows with z towards the tail, so "p is at most so much" is "z is at least so much", and
// the host finds these z once, to the last bit, by p itself.

#include <cmath>
#include <cstdint>
#include <vector>

#include <gpu/index.hpp>
#include <gpu/p_value.hpp>
#include <gpu/pair_sinks.hpp>

#include "base/host_device.hpp"
#include "base/keep_range.hpp"
#include "stats/bins.hpp"
#include "stats/shared_columns.hpp"
#include "stats/statistic.hpp"

namespace gpu::stats {

class kendall_cut;

/// The variance of S where the columns of one row are permuted at random: of `n` columns.
GPU_SIMILARITY_INLINE_HOST_DEVICE double kendall_variance(std::int64_t n, const row_ties& x,
                                                          const row_ties& y) {
  const std::int64_t all = n * (n - 1);
  // The sum of t (t - 1) (2t + 5) of a row.
  const std::int64_t of_x = 2 * x.triples + 18 * x.pairs;
  const std::int64_t of_y = 2 * y.triples + 18 * y.pairs;
  const auto pairs = static_cast<double>(all);
  return static_cast<double>(all * (2 * n + 5) - (of_x + of_y)) / 18.0 +
         2.0 * (static_cast<double>(x.pairs) * static_cast<double>(y.pairs)) / pairs +
         static_cast<double>(x.triples) * static_cast<double>(y.triples) /
             (9.0 * pairs * static_cast<double>(n - 2));
}

/// What p of S is a function of where S is taken as normal.
GPU_SIMILARITY_INLINE_HOST_DEVICE double kendall_z(std::int64_t n, std::int64_t s,
                                                   const row_ties& x, const row_ties& y) {
  return static_cast<double>(s) / sqrt(2.0 * kendall_variance(n, x, y));
}

/// What stands for tau of a pair.
enum class kendall_value : std::uint8_t {
  tau,       ///< tau itself.
  kept_tau,  ///< tau; NaN where the cut drops the pair.
  p          ///< A p of the same place among the bins of a counting pass; 1 where it is cut off.
};

/// How it is found. By value, but for the tables of p.
struct kendall_decision {
  /// S that have an exact p where there are many columns: all pairs of columns agree or all but
  /// one, or none or one.
  static constexpr int extremes = 4;

  kendall_value value = kendall_value::tau;
  tail side = tail::two_sided;
  bool keeps_all_p = false;  ///< Of kept_tau: whatever p is.
  bool is_exact = false;     ///< Whether every p of rows without ties is.
  std::int64_t observations = 0;
  std::int64_t pairs = 0;                                   ///< Of columns.
  detail::keep_range keep = {.at_least = 0, .at_most = 0};  ///< Of kept_tau, beside p.
  double least_z = 0;      ///< Pairs of a smaller z have a p above the cut,
  double drops_below = 0;  ///< and those of a smaller S^2 in units of the variance too.
  /// Of rows without ties: the least S towards the tail that is kept, and bit e of extreme e.
  std::int64_t least_untied = 0;
  std::uint8_t kept_extremes = 0;
  /// Of p: from the first z of step k on it is step_p[k]; 1 before the first.
  const double* step_z = nullptr;  ///< [steps], ascending.
  const double* step_p = nullptr;  ///< [steps]
  int steps = 0;
  /// p of rows without ties, by the number of discordant pairs where all p are exact, else of the
  /// extremes.
  const double* untied_p = nullptr;

  /// A number with the sign that makes it grow towards the tail.
  template <class Number>
  [[nodiscard]] GPU_SIMILARITY_HOST_DEVICE Number directed(Number of) const {
    if (side == tail::two_sided) return of < 0 ? -of : of;
    return side == tail::greater ? of : -of;
  }
  /// The number of an extreme S; `extremes` of others.
  [[nodiscard]] GPU_SIMILARITY_HOST_DEVICE int extreme_of(std::int64_t s) const {
    if (pairs - s <= 2) return s == pairs ? 0 : 1;
    if (pairs + s <= 2) return s == -pairs ? 3 : 2;
    return extremes;
  }
};

/// Whether p is at most that of the cut: kendall_cut::keeps.
GPU_SIMILARITY_INLINE_HOST_DEVICE bool keeps_p(const kendall_decision& by, std::int64_t s,
                                               const row_ties& x, const row_ties& y) {
  if (by.keeps_all_p) return true;
  if (x.pairs == 0 && y.pairs == 0) {
    if (by.is_exact) return by.directed(s) >= by.least_untied;
    const int extreme = by.extreme_of(s);
    if (extreme < kendall_decision::extremes) return (by.kept_extremes >> extreme & 1) != 0;
  }
  if (by.drops_below > 0) {
    const auto d = static_cast<double>(by.directed(s));
    // Far enough below for any rounding: most pairs need no root.
    if (d <= 0 || d * d < by.drops_below * kendall_variance(by.observations, x, y)) return false;
  }
  return by.directed(kendall_z(by.observations, s, x, y)) >= by.least_z;
}

/// What p stands for in the bins of `by`.
GPU_SIMILARITY_INLINE_HOST_DEVICE double step_of_p(const kendall_decision& by, std::int64_t s,
                                                   const row_ties& x, const row_ties& y) {
  if (x.pairs == 0 && y.pairs == 0) {
    if (by.is_exact) return by.untied_p[(by.pairs - s) / 2];
    const int extreme = by.extreme_of(s);
    if (extreme < kendall_decision::extremes) return by.untied_p[extreme];
  }
  const double z = by.directed(kendall_z(by.observations, s, x, y));
  const index_t reached = detail::steps_reached(by.step_z, by.steps, z);
  return reached == 0 ? 1.0 : by.step_p[reached - 1];
}

/// What stands for tau of a pair of rows that both have a statistic.
GPU_SIMILARITY_INLINE_HOST_DEVICE double decide_kendall(const kendall_decision& by, std::int64_t s,
                                                        const row_ties& x, const row_ties& y) {
  if (by.value == kendall_value::p) return step_of_p(by, s, x, y);
  const bool is_kept = by.value == kendall_value::tau || keeps_p(by, s, x, y);
  if (!is_kept) return detail::no_statistic;
  const double tau = detail::rho_of(s, by.pairs - x.pairs, by.pairs - y.pairs);
  return by.value == kendall_value::tau || by.keep.keeps(tau) ? tau : detail::no_statistic;
}

/// The decision of a cut on p and on tau. Cost: p of 64 z.
[[nodiscard]] kendall_decision decide_by(const kendall_cut& cut, const detail::keep_range& keep);
/// tau of every pair.
[[nodiscard]] kendall_decision decide_nothing(index_t observations);

/// A magnitude that rho, Spearman's, of every pair reaches that the decision of a cut keeps; 0
/// where it says nothing. `has_untied`: whether two rows may be without ties.
///
/// With u_i the sum of the signs of x_i - x_j, the centred doubled rank, R = sum u_i v_i = 2 S + Q,
/// where Q has the products of sign(x_i - x_j) and sign(y_i - y_k) of all i and j != k. Taken
/// triple by triple of columns, where S adds up to (n - 2) S: if one of the rows has a tie in the
/// triple, Q there is S there; else Q is 2 or -2 where S is 1 or 3, -1 or -3. So |R - n S| is at
/// most the number N of triples without a tie in both rows; and R = n T - N of a row with itself, T
/// being its pairs of columns without ties. N is at most T (n - 2) / 3. With f = (n - 2) / (3 n)
/// therefore
///   |rho| >= (|tau| - f) / (1 - f),
/// whatever the ties: without any, that is Daniels's inequality. The variance of S beside T_x T_y
/// is least without ties, and so is the least tau of a z.
[[nodiscard]] double least_rho(const kendall_decision& by, bool has_untied);

/// The tables of a counting pass, with the p that `within` gives.
struct kendall_steps {
  std::vector<double> z;         ///< Of kendall_decision::step_z,
  std::vector<double> p;         ///< step_p
  std::vector<double> untied_p;  ///< and untied_p.
};
[[nodiscard]] kendall_steps steps_of(const kendall_cut& within, const detail::p_bins& bins,
                                     int threads);
/// The decision by them; without the pointers.
[[nodiscard]] kendall_decision decide_steps(const kendall_cut& within);

}  // namespace gpu::stats
