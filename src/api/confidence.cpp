#include <gpu/p_value.hpp>

#include <fmt/format.h>

#include <gpu/error.hpp>

#include "stats/fisher_interval.hpp"
#include "stats/observation_limits.hpp"

namespace gpu::inline v0 {
namespace {

stats::fisher_interval checked_interval(measure what, observation_count observations,
                                        double confidence, tail side) {
  const measure_info& info = info_of(what);
  if (info.interval == interval_method::none) {
    throw unsupported(
        fmt::format("measure: {} has no confidence interval, expected one that has", info.title));
  }
  stats::check_observations("observations", observations);
  if (!(confidence > 0.0 && confidence < 1.0)) {
    throw invalid_argument(
        fmt::format("confidence: got {}, expected a probability in (0, 1)", confidence));
  }
  if (side < tail::two_sided || side > tail::less) {
    throw invalid_argument(
        fmt::format("side: got {}, expected an enumerator of gpu::tail", static_cast<int>(side)));
  }
  return {info.interval, observations, confidence, side};
}

}  // namespace

confidence_bounds confidence_interval(measure what, double statistic,
                                      observation_count observations, double confidence,
                                      tail side) {
  return checked_interval(what, observations, confidence, side).of(statistic);
}

std::vector<confidence_bounds> confidence_intervals(measure what,
                                                    std::span<const double> statistics,
                                                    observation_count observations,
                                                    double confidence, tail side) {
  return stats::intervals_of(statistics, checked_interval(what, observations, confidence, side));
}

std::vector<confidence_bounds> confidence_intervals(measure what, std::span<const edge> edges,
                                                    observation_count observations,
                                                    double confidence, tail side) {
  return stats::intervals_of(edges, checked_interval(what, observations, confidence, side));
}

}  // namespace gpu::inline v0
