#include <gpu/p_value.hpp>

#include <fmt/format.h>

#include <cmath>
#include <limits>

#include <gpu/error.hpp>

#include "stats/correlation_test.hpp"

namespace gpu::inline v0 {
namespace {

// From here on the rounding of 1 - r^2 is no longer small beside the steps of a table of p.
constexpr index_t most_observations = 1'000'000'000'000'000;

void check_observations(index_t observations) {
  if (observations < 3 || observations > most_observations) {
    throw invalid_argument(fmt::format("observations: got {}, expected from 3 to {}", observations,
                                       most_observations));
  }
}

void check_correlation(double r) {
  if (r < -1.0 || r > 1.0) {
    throw invalid_argument(fmt::format("r: got {}, expected a correlation in [-1, 1]", r));
  }
}

}  // namespace

double correlation_t(double r, index_t observations) {
  check_observations(observations);
  check_correlation(r);
  return stats::t_value(r, observations);
}

double correlation_p_value(double r, index_t observations, tail side) {
  check_observations(observations);
  check_correlation(r);
  return stats::p_value(r, observations, side);
}

double p_value_of(measure what, double statistic, index_t observations, tail side) {
  switch (info_of(what).test) {
    case significance::none:
      check_correlation(statistic);
      break;
    case significance::student_t:
      return correlation_p_value(statistic, observations, side);
  }
  return std::numeric_limits<double>::quiet_NaN();
}

double critical_correlation(double p, index_t observations, tail side) {
  check_observations(observations);
  if (!(p > 0.0 && p <= 1.0)) {
    throw invalid_argument(fmt::format("p: got {}, expected a value in (0, 1]", p));
  }
  return stats::critical_value(p, observations, side);
}

}  // namespace gpu::inline v0
