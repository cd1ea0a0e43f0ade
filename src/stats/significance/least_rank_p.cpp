#include "stats/significance/least_rank_p.hpp"

#include <algorithm>
#include <cmath>

#include "stats/significance/p_table.hpp"
#include "stats/significance/significance.hpp"

namespace gpu::stats {
namespace {

// Of its whole part.
double factorial(observation_count n) {
  double out = 1;
  for (index_t k = 2; observation_count(k) <= n && std::isfinite(out); ++k)
    out *= static_cast<double>(k);
  return out;
}

// Permutations that leave a row as it is, by its tie sum: the most of all patterns of ties that
// have this sum; 0 where none has. The groups of a pattern are added in descending order.
class permutations_by_sum {
 public:
  explicit permutations_by_sum(index_t observations)
      : most_(static_cast<std::size_t>(sum_of(observations - 1)) + 1) {
    add(observations, observations - 1, 0, 1);
  }
  [[nodiscard]] const std::vector<double>& most() const { return most_; }

 private:
  static index_t sum_of(index_t group) { return group * (group * group - 1) / 6; }

  void add(index_t left, index_t largest, index_t sum, double permutations) {
    if (left == 0) {
      double& most = most_[static_cast<std::size_t>(sum)];
      most = std::max(most, permutations);
      return;
    }
    for (index_t group = std::min(left, largest); group > 0; --group) {
      add(left - group, group, sum + sum_of(group), permutations * factorial(group));
    }
  }

  std::vector<double> most_;
};

// The correlation that rank_t_value ends at.
double last_correlation(observation_count observations) {
  const double least = least_untied_p(observations);
  return least > 0 ? critical_value(least, observations, tail::two_sided)
                   : std::nextafter(1.0, 0.0);
}

}  // namespace

double least_untied_p(observation_count observations) {
  return 2 / factorial(observations);
}

double rank_t_value(double r, observation_count observations) {
  struct limit {
    observation_count observations = 0;
    double r = 1;
  };
  thread_local limit last;
  if (last.observations != observations) last = {observations, last_correlation(observations)};
  if (std::isnan(r)) return r;
  return t_value(std::clamp(r, -last.r, last.r), observations);
}

tie_classes::tie_classes(index_t observations) {
  if (observations > most_counted) {
    const double least = least_untied_p(observations);
    least_p_ = {least, least};
    return;
  }
  const std::vector<double> most = permutations_by_sum(observations).most();
  std::vector<double> different(most);
  std::sort(different.begin(), different.end());
  different.erase(std::unique(different.begin(), different.end()), different.end());
  if (different.front() == 0) different.erase(different.begin());
  for (const double permutations : most) {
    const auto place = std::lower_bound(different.begin(), different.end(), permutations);
    of_sum_.push_back(static_cast<std::uint8_t>(place - different.begin()));
  }
  const double all = factorial(observations);
  for (const double permutations : different) {
    least_p_.push_back(std::min(1.0, 2 * permutations / all));
  }
}

}  // namespace gpu::stats
