#include "stats/correlation_difference.hpp"

#include <algorithm>
#include <limits>

#include "stats/normal_quantile.hpp"

namespace gpu::stats {
namespace {

// The bar of pairs from z on, near rounding.
double bar_of(double z, double standard_error) {
  constexpr double margin = 1e-9;
  if (std::isinf(z)) return z > 0 ? 1.0 : -1.0;
  return std::tanh((z - margin * (1 + std::abs(z))) * standard_error);
}

// z that p of a side reaches `max_p` at.
double z_of_p(double max_p, tail side) {
  const double upper = side == tail::two_sided ? max_p / 2 : max_p;
  if (max_p >= 1.0) return side == tail::two_sided ? 0.0 : -std::numeric_limits<double>::infinity();
  // Quantiles of so small a share are not needed: the screen may keep more.
  return normal_upper_quantile(std::max(upper, 1e-290));
}

}  // namespace

difference_cut::difference_cut(double max_p, double min_abs_z, tail side, double standard_error)
    : max_p_(max_p),
      min_abs_z_(min_abs_z),
      side_(side),
      standard_error_(standard_error),
      factor_(side == tail::less ? -1.0 : 1.0),
      takes_both_(side == tail::two_sided) {
  const double z_of_cut = z_of_p(max_p, side);
  const double z = min_abs_z > 0 ? std::max(z_of_cut, min_abs_z) : z_of_cut;
  least_z_ = std::max(0.0, z);
  // A correlation of exactly 1 has an infinite z: whatever the bar, 1 - first second is 0 or the
  // difference as large.
  bar_ = bar_of(z, standard_error);
  slack_ = 1e-12;
}

difference_cut difference_cut::screened_from(double z) const {
  difference_cut out = *this;
  out.bar_ = std::max(bar_, bar_of(z, standard_error_));
  return out;
}

difference_cut::verdict difference_cut::decide(double first, double second) const {
  const double z = transformed_difference(first, second) / standard_error_;
  const double p = normal_p(z, side_);
  const bool is_far = min_abs_z_ == 0 || directed(z) >= min_abs_z_;
  return {.z = z, .p = p, .is_kept = is_far && p <= max_p_};
}

}  // namespace gpu::stats
