#include "stats/significance/rank_steps.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>

#include "base/parallel.hpp"
#include "stats/bins.hpp"

namespace gpu::stats {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

// The place of p of a statistic with this key.
class placing {
 public:
  placing(const spearman_cut& within, rank_test by, const rank_bins& bins)
      : within_(within), by_(by), bins_(bins) {}

  [[nodiscard]] index_t operator()(double key) const {
    const double rho = within_.key() == detail::bin_key::negated_value ? -key : key;
    return detail::bin_place(-within_.p_within(rho, by_), bins_.low, bins_.high, bins_.scale,
                             bins_.bins);
  }

 private:
  const spearman_cut& within_;
  rank_test by_;
  rank_bins bins_;
};

// By the sum S of squared differences: the key falls as S grows.
double least_key_of_sums(const spearman_test& test, bool of_magnitude, const placing& place_of,
                         index_t place) {
  const auto reaches = [&](std::int64_t s) { return place_of(test.rho_of_sum(s)) >= place; };
  if (!reaches(0)) return infinity;
  std::int64_t within = 0;
  std::int64_t beyond = (of_magnitude ? test.mean_sum() / 2 * 2 : 2 * test.mean_sum()) + 2;
  while (beyond - within > 2) {
    const std::int64_t middle = within + (beyond - within) / 4 * 2;
    (reaches(middle) ? within : beyond) = middle;
  }
  return test.rho_of_sum(within);
}

// By bisection down to neighbouring numbers.
double least_key(bool of_magnitude, const placing& place_of, index_t place) {
  double beyond = of_magnitude ? 0.0 : -1.0;
  double within = 1.0;
  if (place_of(within) < place) return infinity;
  if (place_of(beyond) >= place) return -infinity;
  for (;;) {
    const double middle = beyond + (within - beyond) / 2;
    if (middle <= beyond || middle >= within) return within;
    (place_of(middle) >= place ? within : beyond) = middle;
  }
}

}  // namespace

std::vector<double> steps_of(const spearman_cut& within, rank_test by, const rank_bins& bins,
                             int threads) {
  const spearman_test& test = within.test();
  const placing place_of(within, by, bins);
  const bool of_magnitude = within.key() == detail::bin_key::magnitude;
  const bool by_sums =
      by == rank_test::permutations && test.observations() <= spearman_test::most_observations;
  std::vector<double> out(static_cast<std::size_t>(bins.bins) + 1);
  constexpr index_t steps_of_task = 256;
  const auto steps = static_cast<index_t>(out.size());
  cpu::parallel_for((steps + steps_of_task - 1) / steps_of_task, cpu::thread_count(threads),
                    [&](index_t task, int) {
                      const index_t end = std::min(steps, (task + 1) * steps_of_task);
                      for (index_t k = task * steps_of_task; k < end; ++k) {
                        out[static_cast<std::size_t>(k)] =
                            by_sums ? least_key_of_sums(test, of_magnitude, place_of, k + 1)
                                    : least_key(of_magnitude, place_of, k + 1);
                      }
                    });
  return out;
}

}  // namespace gpu::stats
