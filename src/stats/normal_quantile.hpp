#pragma once
// Quantiles of the standard normal distribution.

namespace gpu::stats {

/// The z that a standard normal variable exceeds with the probability `p`, in (0, 1); some units in
/// the last place.
double normal_upper_quantile(double p);

}  // namespace gpu::stats
