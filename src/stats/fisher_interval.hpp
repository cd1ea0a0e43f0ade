#pragma once
// Confidence intervals of statistics by Fisher's z.

#include <span>
#include <vector>

#include <gpu/index.hpp>
#include <gpu/measure.hpp>
#include <gpu/p_value.hpp>
#include <gpu/pair_sinks.hpp>

namespace gpu::stats {

/// The intervals of one method, number of observations, confidence and tail.
class fisher_interval {
 public:
  /// `method` is not none, `observations` is at least 3, `confidence` in (0, 1).
  fisher_interval(interval_method method, observation_count observations, double confidence,
                  tail side);
  /// @throw gpu::invalid_argument where `statistic` is outside [-1, 1].
  [[nodiscard]] confidence_bounds of(double statistic) const;

 private:
  [[nodiscard]] double error_of(double statistic) const;
  [[nodiscard]] confidence_bounds one_sided(confidence_bounds both) const;

  interval_method method_;
  double degrees_;
  tail side_;
  double quantile_;
};

/// That of each statistic, and of the statistic of each edge, in their order.
std::vector<confidence_bounds> intervals_of(std::span<const double> statistics,
                                            const fisher_interval& interval);
std::vector<confidence_bounds> intervals_of(std::span<const edge> edges,
                                            const fisher_interval& interval);

}  // namespace gpu::stats
