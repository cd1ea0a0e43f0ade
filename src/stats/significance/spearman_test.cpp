#include "stats/significance/spearman_test.hpp"

#include <bit>
#include <cmath>
#include <cstddef>
#include <numbers>
#include <numeric>

#include "stats/significance/p_steps.hpp"
#include "stats/significance/significance.hpp"
#include "stats/statistic.hpp"

namespace gpu::stats {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

// P(S <= 0), P(S <= 2), ...: the places of a permutation are filled one by one. What comes later
// depends only on which values are left, so each set of values has one list of counts by S.
std::vector<double> counted_probabilities(index_t n) {
  const auto count = static_cast<unsigned>(n);
  std::vector<std::vector<double>> of_set(std::size_t{1} << count);
  of_set[0] = {1.0};
  for (unsigned set = 1; set < of_set.size(); ++set) {
    const int place = std::popcount(set) - 1;
    std::vector<double>& counts = of_set[set];
    for (unsigned value = 0; value < count; ++value) {
      if ((set >> value & 1U) == 0) continue;
      const std::vector<double>& before = of_set[set ^ (1U << value)];
      const int difference = place - static_cast<int>(value);
      const auto square = static_cast<std::size_t>(difference * difference);
      counts.resize(std::max(counts.size(), before.size() + square));
      for (std::size_t s = 0; s < before.size(); ++s) counts[s + square] += before[s];
    }
  }
  const std::vector<double>& counts = of_set.back();
  const double all = std::accumulate(counts.begin(), counts.end(), 0.0);
  std::vector<double> out;
  double sum = 0;
  for (std::size_t s = 0; s < counts.size(); s += 2) {
    sum += counts[s];
    out.push_back(sum / all);
  }
  return out;
}

detail::keep_range range_of(double weakest, tail side) {
  switch (side) {
    case tail::two_sided:
      return {weakest, -weakest};
    case tail::greater:
      return {weakest, -infinity};
    case tail::less:
      return {infinity, weakest};
  }
  return {infinity, -infinity};
}

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

spearman_test::spearman_test(index_t observations)
    : observations_(observations),
      centre_(0),
      classes_(observations),
      t_(p_table_for(observations)),
      floored_t_(p_table_for(observations, least_untied_p(observations))) {
  if (observations > most_observations) return;
  centre_ = observations * (observations * observations - 1) / 6;
  if (observations <= most_counted) {
    table_ = counted_probabilities(observations);
  } else {
    find_least_of_series();
  }
}

// From the centre outwards in steps, then by bisection.
void spearman_test::find_least_of_series() {
  constexpr std::int64_t steps = 4096;
  least_of_all_ = std::exp(-std::lgamma(static_cast<double>(observations_) + 1));
  const std::int64_t step = std::max<std::int64_t>(2, centre_ / steps / 2 * 2);
  std::int64_t within = centre_ / 2 * 2;
  std::int64_t beyond = within - step;
  while (beyond >= 0 && series(beyond).converges()) {
    within = beyond;
    beyond -= step;
  }
  if (beyond < 0) beyond = -2;
  while (within - beyond > 2) {
    const std::int64_t middle = beyond + (within - beyond) / 4 * 2;
    (series(middle).converges() ? within : beyond) = middle;
  }
  least_of_series_ = within;
  p_there_ = series(within).p;
  const double by_t = t_p(within);
  scale_of_t_ = by_t > 0 ? p_there_ / by_t : 1.0;
}

// The Edgeworth series of D. J. Best and D. E. Roberts, "Algorithm AS 89: The upper tail
// probabilities of Spearman's rho", Applied Statistics 24 (1975), with a correction for continuity.
spearman_test::series_value spearman_test::series(std::int64_t s) const {
  const auto n = static_cast<double>(observations_);
  const double b = 1 / n;
  const double x = (6.0 * static_cast<double>(s + 1) / (n * (n * n - 1)) - 1) * std::sqrt(n - 1);
  const double y = x * x;
  const double last = 0.0072 - 0.0831 * b + y * b * (0.0131 - 4.6e-4 * y);
  const double middle = y * b * (0.0879 + 0.0151 * b - y * last);
  const double inner = y * (-0.0758 + b * (0.1033 + 0.3932 * b) - middle);
  const double sum = x * b * (0.2274 + b * (0.2531 + 0.1745 * b) + inner);
  const double normal = 0.5 * std::erfc(-x / std::numbers::sqrt2);
  return {.normal = normal, .p = normal - sum * std::exp(-y / 2)};
}

double spearman_test::rho_of_sum(std::int64_t s) const {
  return detail::rho_of(2 * (centre_ - s), 2 * centre_, 2 * centre_);
}

double spearman_test::t_p(std::int64_t s) const {
  return p_function{t_.get(), tail::greater}(rho_of_sum(s));
}

double spearman_test::at_most(std::int64_t s) const {
  if (s < 0) return 0.0;
  if (!table_.empty()) return table_[static_cast<std::size_t>(s / 2)];
  if (s >= least_of_series_) return std::clamp(series(s).p, 0.0, 1.0);
  return std::max(least_of_all_, std::min(p_there_, scale_of_t_ * t_p(s)));
}

double spearman_test::greater_p(std::int64_t s) const {
  return s <= centre_ ? at_most(s) : 1.0 - at_most(2 * centre_ - s - 2);
}

double spearman_test::p_of_sum(std::int64_t s, tail side) const {
  const std::int64_t mirrored = 2 * centre_ - s;
  switch (side) {
    case tail::two_sided:
      return std::min(1.0, 2 * at_most(std::min(s, mirrored)));
    case tail::greater:
      return greater_p(s);
    case tail::less:
      return greater_p(mirrored);
  }
  return 1.0;
}

double spearman_test::p(double rho, int of_class, tail side) const {
  if (std::isnan(rho)) return rho;
  if (is_by_permutations(of_class)) {
    return p_of_sum(2 * std::llround(static_cast<double>(centre_) * (1 - rho) / 2), side);
  }
  const double p = p_function{floored_t_.get(), side}(rho);
  // Towards the tail p is at most 1 / 2, elsewhere at least.
  const double least = classes_.least_p(of_class);
  if (side == tail::two_sided) return std::max(p, least);
  const bool in_the_tail = side == tail::greater ? rho > 0 : rho < 0;
  return in_the_tail ? std::max(p, least / 2) : p;
}

int spearman_test::last_class(double max_p, tail side) const {
  const double two_sided = side == tail::two_sided ? max_p : 2 * max_p;
  int last = classes_.count() - 1;
  while (last > 0 && classes_.least_p(last) > two_sided) --last;
  return last;
}

double spearman_test::weakest(double max_p, int of_class, tail side) const {
  if (is_by_permutations(of_class)) return weakest_by_permutations(max_p, side);
  if (of_class > last_class(max_p, side)) return side == tail::less ? -infinity : infinity;
  return critical_value(max_p, *floored_t_, side);
}

// p never falls with S in the direction of `greater`.
double spearman_test::weakest_by_permutations(double max_p, tail side) const {
  const double sign = side == tail::less ? -1.0 : 1.0;
  const bool has_two_sides = side == tail::two_sided;
  if (max_p >= 1.0) return has_two_sides ? 0.0 : -sign;
  const tail direction = has_two_sides ? tail::two_sided : tail::greater;
  const auto keeps = [&](std::int64_t s) { return p_of_sum(s, direction) <= max_p; };
  if (!keeps(0)) return sign * infinity;
  std::int64_t within = 0;
  std::int64_t beyond = has_two_sides ? centre_ / 2 * 2 + 2 : 2 * centre_ + 2;
  while (beyond - within > 2) {
    const std::int64_t middle = within + (beyond - within) / 4 * 2;
    (keeps(middle) ? within : beyond) = middle;
  }
  return sign * rho_of_sum(within);
}

spearman_cut::spearman_cut(const spearman_test& test, double max_p, tail side)
    : test_(test),
      side_(side),
      cuts_{.permutations = range_of(test.weakest(max_p, 0, side), side),
            .student_t = range_of(test.weakest(max_p, 1, side), side),
            .last_class = test.last_class(max_p, side)} {}

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
