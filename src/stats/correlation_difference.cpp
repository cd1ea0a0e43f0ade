#include "stats/correlation_difference.hpp"

#include <algorithm>
#include <limits>

#include "stats/significance/significance.hpp"

namespace gpu::stats {
namespace {

// How far rounding moves z at most: margin (1 + |z|).
constexpr double margin = 1e-9;
// The smallest tail that z is computed of.
constexpr double least_tail = 1e-290;

// The bar of pairs from z on, near rounding.
double bar_of(double z, double standard_error) {
  if (std::isinf(z)) return z > 0 ? 1.0 : -1.0;
  return std::tanh((z - margin * (1 + std::abs(z))) * standard_error);
}

double upper_tail(double max_p, tail side) {
  return side == tail::two_sided ? max_p / 2 : max_p;
}

// The ratio above which both cuts keep every pair; `z` is that of the stricter one.
double sure_bar_of(double max_p, double min_abs_z, tail side, double z, double standard_error) {
  constexpr double every_pair = -2;  // no ratio is below -1
  constexpr double no_pair = std::numeric_limits<double>::quiet_NaN();
  if (max_p >= 1.0 && min_abs_z == 0) return every_pair;
  if (upper_tail(max_p, side) < least_tail || std::isinf(z)) return no_pair;
  return std::tanh((z + margin * (1 + std::abs(z))) * standard_error);
}

// z that p of a side reaches `max_p` at.
double z_of_p(double max_p, tail side) {
  const double upper = upper_tail(max_p, side);
  if (max_p >= 1.0) return side == tail::two_sided ? 0.0 : -std::numeric_limits<double>::infinity();
  // Quantiles of so small a share are not needed: the screen may keep more.
  return normal_upper_quantile(std::max(upper, least_tail));
}

}  // namespace

difference_cut::difference_cut(double max_p, double min_abs_z, tail side, double standard_error)
    : max_p_(max_p), min_abs_z_(min_abs_z), side_(side), standard_error_(standard_error) {
  const double z_of_cut = z_of_p(max_p, side);
  const double z = min_abs_z > 0 ? std::max(z_of_cut, min_abs_z) : z_of_cut;
  least_z_ = std::max(0.0, z);
  // A correlation of exactly 1 has an infinite z: whatever the bar, 1 - first second is 0 or the
  // difference as large.
  screen_ = {.bar = bar_of(z, standard_error),
             .sure_bar = sure_bar_of(max_p, min_abs_z, side, z, standard_error),
             .slack = 1e-12,
             .factor = side == tail::less ? -1.0 : 1.0,
             .takes_both = side == tail::two_sided};
}

difference_cut difference_cut::screened_from(double z) const {
  difference_cut out = *this;
  out.screen_.bar = std::max(screen_.bar, bar_of(z, standard_error_));
  return out;
}

difference_cut::verdict difference_cut::decide(double first, double second) const {
  const double z = transformed_difference(first, second) / standard_error_;
  const double p = normal_p(z, side_);
  const bool is_far = min_abs_z_ == 0 || directed(z) >= min_abs_z_;
  return {.z = z, .p = p, .is_kept = is_far && p <= max_p_};
}

}  // namespace gpu::stats
