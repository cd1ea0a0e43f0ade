#include "stats/normal_quantile.hpp"

#include <cmath>
#include <numbers>

namespace gpu::stats {

double normal_upper_quantile(double p) {
  if (p > 0.5) return -normal_upper_quantile(1.0 - p);
  // Newton's method on log Q(z) - log p. log Q is concave and falls, and Q(z) <= exp(-z^2 / 2) / 2
  // says that the start is not below the root: so the steps go down to it, and the first one that
  // does not is rounding.
  double z = std::sqrt(-2.0 * std::log(2.0 * p));
  for (int step = 0; step < 100; ++step) {
    const double above = std::erfc(z / std::numbers::sqrt2) / 2.0;
    const double density = std::exp(-z * z / 2.0) * std::numbers::inv_sqrtpi / std::numbers::sqrt2;
    const double next = z + std::log(above / p) * (above / density);
    if (!(next < z)) break;
    z = next;
  }
  return z;
}

}  // namespace gpu::stats
