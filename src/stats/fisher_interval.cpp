#include "stats/fisher_interval.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include <gpu/error.hpp>

#include "stats/significance/significance.hpp"

namespace gpu::stats {

fisher_interval::fisher_interval(interval_method method, observation_count observations,
                                 double confidence, tail side)
    : method_(method), degrees_(observations - 3), side_(side) {
  const double outside = 1.0 - confidence;
  quantile_ = normal_upper_quantile(side == tail::two_sided ? outside / 2.0 : outside);
}

confidence_bounds fisher_interval::of(double statistic) const {
  if (statistic < -1.0 || statistic > 1.0) {
    throw invalid_argument(
        fmt::format("statistic: got {}, expected a value in [-1, 1]", statistic));
  }
  if (std::isnan(statistic)) return {statistic, statistic};
  if (degrees_ == 0) return {-1.0, 1.0};
  if (std::fabs(statistic) == 1.0) return one_sided({statistic, statistic});
  const double z = std::atanh(statistic);
  const double half = quantile_ * error_of(statistic);
  return one_sided({std::tanh(z - half), std::tanh(z + half)});
}

double fisher_interval::error_of(double statistic) const {
  switch (method_) {
    case interval_method::none:
      break;
    case interval_method::fisher:
      return 1.0 / std::sqrt(degrees_);
    case interval_method::bonett_wright:
      return std::sqrt((1.0 + statistic * statistic / 2.0) / degrees_);
  }
  return std::numeric_limits<double>::infinity();
}

confidence_bounds fisher_interval::one_sided(confidence_bounds both) const {
  if (side_ == tail::greater) both.upper = 1.0;
  if (side_ == tail::less) both.lower = -1.0;
  return both;
}

std::vector<confidence_bounds> intervals_of(std::span<const double> statistics,
                                            const fisher_interval& interval) {
  std::vector<confidence_bounds> out(statistics.size());
  std::transform(statistics.begin(), statistics.end(), out.begin(),
                 [&](double statistic) { return interval.of(statistic); });
  return out;
}

std::vector<confidence_bounds> intervals_of(std::span<const edge> edges,
                                            const fisher_interval& interval) {
  std::vector<confidence_bounds> out(edges.size());
  std::transform(edges.begin(), edges.end(), out.begin(),
                 [&](const edge& e) { return interval.of(e.statistic); });
  return out;
}

}  // namespace gpu::stats
