#include "stats/significance/rank_steps.hpp"

#include <cstddef>
#include <cstdint>
#include <limits>

#include "stats/significance/p_steps.hpp"

namespace gpu::stats {
namespace {

// The place of p of a statistic with this key.
class placing {
 public:
  placing(const spearman_cut& within, int of_class, const detail::p_bins& bins)
      : within_(within), class_(of_class), bins_(bins) {}

  [[nodiscard]] index_t operator()(double key) const {
    const double rho = within_.key() == detail::bin_key::negated_value ? -key : key;
    return bins_.place_of(within_.p_within(rho, class_));
  }

 private:
  const spearman_cut& within_;
  int class_;
  detail::p_bins bins_;
};

// By the sum S of squared differences: the key falls as S grows.
double least_key_of_sums(const spearman_test& test, bool of_magnitude, const placing& place_of,
                         index_t place) {
  const auto reaches = [&](std::int64_t s) { return place_of(test.rho_of_sum(s)) >= place; };
  if (!reaches(0)) return std::numeric_limits<double>::infinity();
  std::int64_t within = 0;
  std::int64_t beyond = (of_magnitude ? test.mean_sum() / 2 * 2 : 2 * test.mean_sum()) + 2;
  while (beyond - within > 2) {
    const std::int64_t middle = within + (beyond - within) / 4 * 2;
    (reaches(middle) ? within : beyond) = middle;
  }
  return test.rho_of_sum(within);
}

}  // namespace

std::vector<double> steps_of(const spearman_cut& within, int of_class, const detail::p_bins& bins,
                             int threads) {
  const spearman_test& test = within.test();
  const placing place_of(within, of_class, bins);
  const bool of_magnitude = within.key() == detail::bin_key::magnitude;
  const bool by_sums = of_class == 0 && test.observations() <= spearman_test::most_observations;
  std::vector<double> out(static_cast<std::size_t>(bins.bins) + 1);
  for_each_step(bins, threads, [&](index_t k) {
    out[static_cast<std::size_t>(k)] =
        by_sums ? least_key_of_sums(test, of_magnitude, place_of, k + 1)
                : least_double(of_magnitude ? 0.0 : -1.0, 1.0,
                               [&](double key) { return place_of(key) > k; });
  });
  return out;
}

std::vector<std::int32_t> most_steps(const spearman_cut& within, const detail::p_bins& bins) {
  const tie_classes& classes = within.test().classes();
  std::vector<std::int32_t> out;
  for (const int of_class : classes.of_sums()) {
    const double two_sided = classes.least_p(of_class);
    const double least = within.side() == tail::two_sided ? two_sided : two_sided / 2;
    const double p = of_class <= within.cuts().last_class ? least : 1.0;
    out.push_back(static_cast<std::int32_t>(bins.place_of(p)));
  }
  return out;
}

}  // namespace gpu::stats
