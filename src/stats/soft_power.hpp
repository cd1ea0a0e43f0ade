#pragma once
// Powers of adjacencies, the same arithmetic on host and device.
//
// Powers of one fraction make a chain: b^f, then times b again and again. So many powers of a
// number cost one product for each integer up to the largest, and one b^f for each fraction.

#include <cmath>
#include <span>
#include <vector>

#include <gpu/connectivity.hpp>

#include "base/host_device.hpp"

namespace gpu::stats {

/// Powers that a sink takes at most.
inline constexpr int most_powers = 64;
inline constexpr double largest_power = 100;

/// How one power follows from the one before.
struct power_step {
  double fraction;  ///< Where a chain begins: of b^fraction; else negative.
  int factors;      ///< How often b is multiplied then.
  int column;       ///< Of the power among those that were asked for.
};

/// The steps of all powers, chain by chain, ascending.
std::vector<power_step> power_steps(std::span<const double> powers);
/// The same steps where what was before the first one is not known.
std::vector<power_step> steps_from(std::span<const power_step> steps, std::size_t first);

/// The number in [0, 1] whose powers are adjacencies; 0 of a NaN.
GPU_SIMILARITY_HOST_DEVICE inline double soft_base(double statistic, network_kind kind) {
  double base = statistic;
  if (kind == network_kind::unsigned_network) base = fabs(statistic);
  if (kind == network_kind::signed_network) base = (1.0 + statistic) * 0.5;
  return base > 0.0 ? (base < 1.0 ? base : 1.0) : 0.0;
}

/// Whether such a step takes the logarithm of the base.
GPU_SIMILARITY_HOST_DEVICE inline bool takes_logarithm(const power_step& step) {
  return step.fraction > 0.0 && step.fraction != 0.5;
}
/// For all chains of a base; -infinity of 0, whose powers are 0 then.
GPU_SIMILARITY_HOST_DEVICE inline double logarithm_of(double base) {
  return log2(base);
}
/// What a chain begins with. The logarithm is looked at where takes_logarithm() says so.
GPU_SIMILARITY_HOST_DEVICE inline double power_of_fraction(double base, double fraction,
                                                           double logarithm) {
  if (fraction == 0.0) return 1.0;
  if (fraction == 0.5) return sqrt(base);
  return exp2(fraction * logarithm);
}

}  // namespace gpu::stats
