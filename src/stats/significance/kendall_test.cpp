#include "stats/significance/kendall_test.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "stats/significance/significance.hpp"
#include "stats/statistic.hpp"

namespace gpu::stats {
namespace {

// As SciPy has it: rows of up to so many columns without ties have an exact p.
constexpr index_t most_exact = 33;

// Probabilities of 0, 1, ... discordant pairs of two random orders of j, from those of one less:
// inserting the j-th value adds 0 to j - 1 of them, each as likely.
std::vector<double> with_one_more(const std::vector<double>& of, index_t j) {
  std::vector<double> out(of.size() + static_cast<std::size_t>(j - 1));
  for (std::size_t d = 0; d < of.size(); ++d) {
    const double share = of[d] / static_cast<double>(j);
    for (index_t more = 0; more < j; ++more) out[d + static_cast<std::size_t>(more)] += share;
  }
  return out;
}

// A number with the sign that makes it grow towards the tail.
template <class Number>
Number directed_to(tail side, Number value) {
  if (side == tail::two_sided) return value < 0 ? -value : value;
  return side == tail::greater ? value : -value;
}

}  // namespace

double normal_p(double z_towards_tail, tail side) {
  const double p = std::erfc(z_towards_tail);
  return side == tail::two_sided ? p : 0.5 * p;
}

exact_kendall::exact_kendall(index_t most) {
  std::vector<double> of{1.0};
  at_most_.assign(2, of);
  for (index_t j = 2; j <= std::min(most, most_exact); ++j) {
    of = with_one_more(of, j);
    std::vector<double>& sums = at_most_.emplace_back(of);
    for (std::size_t d = 1; d < sums.size(); ++d) sums[d] += sums[d - 1];
  }
}

kendall_test::kendall_test(index_t observations)
    : kendall_test(observations,
                   exact_kendall(observations <= most_exact ? observations : index_t{0})) {}

kendall_test::kendall_test(index_t observations, const exact_kendall& exact)
    : observations_(observations),
      pairs_(observations * (observations - 1) / 2),
      exact_for_all_(observations <= most_exact) {
  if (exact_for_all_) {
    at_most_ = exact.at_most(observations);
    return;
  }
  double none = 1.0;
  for (index_t j = 2; j <= observations && none > 0; ++j) none /= static_cast<double>(j);
  at_most_ = {none, none * static_cast<double>(observations)};
}

double kendall_test::at_most(std::int64_t discordant) const {
  if (discordant < 0) return 0.0;
  if (2 * discordant > pairs_) return 1.0 - at_most(pairs_ - discordant - 1);
  return at_most_[static_cast<std::size_t>(discordant)];
}

double kendall_test::exact_p(std::int64_t s, tail side) const {
  const std::int64_t discordant = (pairs_ - s) / 2;
  switch (side) {
    case tail::two_sided:
      return std::min(1.0, 2 * at_most(std::min(discordant, pairs_ - discordant)));
    case tail::greater:
      return at_most(discordant);
    case tail::less:
      return at_most(pairs_ - discordant);
  }
  return 1.0;
}

double kendall_test::variance(const row_ties& x, const row_ties& y) const {
  return kendall_variance(observations_, x, y);
}

std::int64_t kendall_test::sum_of(double tau, const row_ties& x, const row_ties& y) const {
  const double scale = detail::rho_scale(static_cast<double>(pairs_ - x.pairs),
                                         static_cast<double>(pairs_ - y.pairs));
  return std::llround(tau * scale);
}

double kendall_test::p(std::int64_t s, const row_ties& x, const row_ties& y, tail side) const {
  if (x.pairs == 0 && y.pairs == 0 && is_exact(s)) return exact_p(s, side);
  return normal_p(directed_to(side, kendall_z(observations_, s, x, y)), side);
}

// A square of S that is off the cut by a millionth decides: p is then off by far more than its own
// rounding, and z of the cut than that of the quantile.
kendall_cut::kendall_cut(const kendall_test& test, double max_p, tail side)
    : test_(test), max_p_(max_p), side_(side), keeps_all_(max_p >= 1.0) {
  constexpr double margin = 1e-6;
  constexpr double least_p = 1e-290;
  const double two_sided = side == tail::two_sided ? max_p : 2 * max_p;
  is_screened_ = !keeps_all_ && max_p > least_p && two_sided < 0.99;
  if (!is_screened_) return;
  const double z = normal_upper_quantile(two_sided / 2);
  drops_below_ = z * z * (1 - margin);
  keeps_above_ = z * z * (1 + margin);
  const auto least = static_cast<double>(least_untied());
  least_untied_square_ = least * least;
}

// The variance as kendall_test has it, in another order: the margin is far above its rounding.
void kendall_cut::least_squares(const row_ties& x, const double* pairs, const double* triples,
                                index_t count, double* out) const {
  const auto n = static_cast<double>(test_.observations());
  const double all = n * (n - 1);
  const auto tied = static_cast<double>(x.pairs);
  const auto tripled = static_cast<double>(x.triples);
  const double own = all * (2 * n + 5) / 18 - tied - tripled / 9;
  const double of_pairs = 2 * tied / all - 1;
  const double of_triples = tripled / (9 * all * (n - 2)) - 1.0 / 9;
  // Where few pairs of columns differ p of rows without ties is exact, and looked at.
  const auto most = static_cast<double>(test_.pairs() - 2);
  const bool is_exact = test_.is_exact(0);
  const double largest = is_exact ? std::numeric_limits<double>::infinity() : most * most;
  for (index_t k = 0; k < count; ++k) {
    const double variance = own + of_pairs * pairs[k] + of_triples * triples[k];
    out[k] = std::min(drops_below_ * variance, largest);
  }
  if (!is_exact || x.pairs > 0) return;
  for (index_t k = 0; k < count; ++k) out[k] = pairs[k] == 0 ? least_untied_square_ : out[k];
}

std::int64_t kendall_cut::least_untied() const {
  const std::int64_t pairs = test_.pairs();
  // S has the parity of `pairs`; p never grows with it in the direction of the side.
  std::int64_t below = side_ == tail::two_sided ? -1 - (pairs + 1) % 2 : -pairs - 2;
  std::int64_t above = pairs;
  const auto keeps = [&](std::int64_t s) {
    return keeps_all_ || test_.p(side_ == tail::less ? -s : s, {}, {}, side_) <= max_p_;
  };
  if (!keeps(above)) return pairs + 1;
  while (above - below > 2) {
    const std::int64_t middle = below + (above - below) / 4 * 2;
    (keeps(middle) ? above : below) = middle;
  }
  return above;
}

double kendall_cut::weakest_untied() const {
  const std::int64_t pairs = test_.pairs();
  const double sign = side_ == tail::less ? -1.0 : 1.0;
  const std::int64_t least = least_untied();
  if (least > pairs) return sign * std::numeric_limits<double>::infinity();
  return sign * detail::rho_of(least, pairs, pairs);
}

}  // namespace gpu::stats
