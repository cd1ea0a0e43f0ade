#include "stats/significance/kendall_decision.hpp"

#include <algorithm>
#include <cmath>

#include "stats/significance/kendall_test.hpp"
#include "stats/significance/p_steps.hpp"

namespace gpu::stats {
namespace {

// p is 1 of a z below, and 0 of one above, whatever the side.
constexpr double largest_z = 1e3;
// Of squares of z: far more than the roundings of the variance and of the squares.
constexpr double square_margin = 1e-6;
// Smaller z are not worth a look at the square.
constexpr double least_screened_z = 1e-3;

// The least z for which `holds`, as least_double.
template <class Holds>
double least_z(const Holds& holds) {
  return least_double(-largest_z, largest_z, holds);
}

kendall_decision decision_of(const kendall_cut& cut, kendall_value value) {
  const kendall_test& test = cut.test();
  return {.value = value,
          .side = cut.side(),
          .is_exact = test.is_exact(0),
          .observations = test.observations(),
          .pairs = test.pairs()};
}

// The extremes of rows of so many pairs of columns.
std::vector<std::int64_t> extremes_of(std::int64_t pairs) {
  return {pairs, pairs - 2, 2 - pairs, -pairs};
}

// p of rows without ties: kendall_decision::untied_p.
std::vector<double> untied_p_of(const kendall_cut& within) {
  std::vector<double> out;
  const std::int64_t pairs = within.test().pairs();
  if (within.test().is_exact(0)) {
    for (std::int64_t discordant = 0; discordant <= pairs; ++discordant) {
      out.push_back(within.p_within(pairs - 2 * discordant, {}, {}));
    }
  } else {
    for (const std::int64_t s : extremes_of(pairs)) out.push_back(within.p_within(s, {}, {}));
  }
  return out;
}

}  // namespace

kendall_decision decide_nothing(index_t observations) {
  return {.observations = observations, .pairs = observations * (observations - 1) / 2};
}

kendall_decision decide_by(const kendall_cut& cut, const detail::keep_range& keep) {
  kendall_decision out = decision_of(cut, kendall_value::kept_tau);
  out.keep = keep;
  out.keeps_all_p = cut.keeps_all();
  if (out.keeps_all_p) return out;
  out.least_z = least_z([&](double z) { return normal_p(z, cut.side()) <= cut.max_p(); });
  if (out.least_z > least_screened_z) {
    out.drops_below = 2 * out.least_z * out.least_z * (1 - square_margin);
  }
  if (out.is_exact) {
    out.least_untied = cut.least_untied();
    return out;
  }
  const std::vector<std::int64_t> extremes = extremes_of(out.pairs);
  for (std::size_t e = 0; e < extremes.size(); ++e) {
    if (cut.keeps(extremes[e], {}, {})) {
      out.kept_extremes = static_cast<std::uint8_t>(out.kept_extremes | 1U << e);
    }
  }
  return out;
}

namespace {

// The least |tau| that p lets pass.
double least_tau_of_p(const kendall_decision& by, bool has_untied) {
  if (by.keeps_all_p || by.least_z <= 0) return 0;
  const auto n = static_cast<double>(by.observations);
  const double variance = 2 * (2 * n + 5) / (9 * n * (n - 1));
  const double least = by.least_z * std::sqrt(2 * variance);
  if (!has_untied) return least;
  const auto pairs = static_cast<double>(by.pairs);
  if (!by.is_exact) return by.kept_extremes == 0 ? least : std::min(least, (pairs - 2) / pairs);
  return std::clamp(static_cast<double>(by.least_untied) / pairs, 0.0, least);
}

}  // namespace

double least_rho(const kendall_decision& by, bool has_untied) {
  if (by.value != kendall_value::kept_tau) return 0;
  constexpr double slack = 1e-9;
  double least = least_tau_of_p(by, has_untied);
  if (by.keep.at_least > by.keep.at_most) {
    const double of_tau =
        std::min(std::max(by.keep.at_least, 0.0), std::max(-by.keep.at_most, 0.0));
    least = std::max(least, of_tau);
  }
  const auto n = static_cast<double>(by.observations);
  const double f = (n - 2) / (3 * n);
  return std::clamp((least - f) / (1 - f) - slack, 0.0, 1.0 - slack);
}

kendall_steps steps_of(const kendall_cut& within, const detail::p_bins& bins, int threads) {
  kendall_steps out;
  const auto p_of = [&](double z) {
    const double p = normal_p(z, within.side());
    return within.keeps_all() || p <= within.max_p() ? p : 1.0;
  };
  out.z.resize(static_cast<std::size_t>(bins.bins) + 1);
  out.p.resize(out.z.size());
  for_each_step(bins, threads, [&](index_t step) {
    const auto k = static_cast<std::size_t>(step);
    out.z[k] = least_z([&](double z) { return bins.place_of(p_of(z)) > step; });
    out.p[k] = p_of(std::clamp(out.z[k], -largest_z, largest_z));
  });
  out.untied_p = untied_p_of(within);
  return out;
}

kendall_decision decide_steps(const kendall_cut& within) {
  return decision_of(within, kendall_value::p);
}

}  // namespace gpu::stats
