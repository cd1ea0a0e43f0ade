#pragma once
/// @file
/// Confidence intervals of statistics.

#include <span>
#include <vector>

#include <gpu/export.hpp>
#include <gpu/measure.hpp>
#include <gpu/observation_count.hpp>
#include <gpu/pair_sinks.hpp>

namespace gpu {
inline namespace v0 {

/// The bounds of a confidence interval, in [-1, 1].
struct confidence_bounds {
  double lower;  ///< -1 for tail::less.
  double upper;  ///< 1 for tail::greater.
  /// Whether both bounds are equal.
  friend bool operator==(const confidence_bounds&, const confidence_bounds&) = default;
};

/// The confidence interval of a statistic by Fisher's z: tanh(atanh(statistic) -+ q error), where q
/// is the quantile of the standard normal distribution. info_of(what).interval names the error: of
/// Pearson's r 1 / sqrt(n - 3), as scipy.stats.pearsonr; of Spearman's rho, as Bonett and Wright
/// (2000), sqrt((1 + rho^2 / 2) / (n - 3)); of the biweight midcorrelation as of r, which is an
/// approximation. Three observations tell nothing: the interval is [-1, 1], whatever the statistic.
/// Statistics of -1 and 1 have no width.
/// @param what the measure.
/// @param statistic in [-1, 1]; NaN gives NaN.
/// @param observations a real number from 3 to 10^15.
/// @param confidence the probability that the interval covers, in (0, 1).
/// @param side two_sided: both bounds; greater: the lower bound alone; less: the upper one alone.
/// @throw gpu::invalid_argument outside these ranges.
/// @throw gpu::unsupported where the measure has no interval, as cosine.
[[nodiscard]] GPU_SIMILARITY_EXPORT confidence_bounds
confidence_interval(measure what, double statistic, observation_count observations,
                    double confidence = 0.95, tail side = tail::two_sided);

/// The same of each of several statistics, in their order, at some 50 ns each.
/// @param what as above.
/// @param statistics as above.
/// @param observations of all of them, as above.
/// @param confidence as above.
/// @param side as above.
/// @return as many intervals as there are statistics.
/// @throw as above.
[[nodiscard]] GPU_SIMILARITY_EXPORT std::vector<confidence_bounds> confidence_intervals(
    measure what, std::span<const double> statistics, observation_count observations,
    double confidence = 0.95, tail side = tail::two_sided);

/// The same of the statistics of edges, of a call whose rows share all columns: with
/// nan_policy::pairwise an edge has observations of its own (gpu/observations.hpp).
/// @param what as above.
/// @param edges as a call gives them.
/// @param observations those of the test (pair_summary::observations).
/// @param confidence as above.
/// @param side as above.
/// @return as many intervals as there are edges.
/// @throw as above.
[[nodiscard]] GPU_SIMILARITY_EXPORT std::vector<confidence_bounds> confidence_intervals(
    measure what, std::span<const edge> edges, observation_count observations,
    double confidence = 0.95, tail side = tail::two_sided);

}  // namespace v0
}  // namespace gpu
