#pragma once
// The difference of two correlations by Fisher's z, and the cut that decides it.

#include <cmath>
#include <numbers>

#include <gpu/pair_sinks.hpp>

#include "stats/difference_screen.hpp"

namespace gpu::stats {

/// atanh first - atanh second = atanh((first - second) / (1 - first second)). NaN gives NaN.
/// Infinite where one of the two alone is 1 or -1, or both with unlike signs.
inline double transformed_difference(double first, double second) {
  if (first == second) return 0.0;
  const double ratio = (first - second) / -std::fma(first, second, -1.0);
  // Near 1 the ratio has no digits left of what the logarithm of a product has.
  if (std::abs(ratio) > 0.5) {
    return 0.5 * std::log((1 + first) / (1 - first) * ((1 - second) / (1 + second)));
  }
  return std::atanh(ratio);
}

/// p of a standard normal variable.
inline double normal_p(double z, tail side) {
  switch (side) {
    case tail::two_sided:
      return std::erfc(std::abs(z) / std::numbers::sqrt2);
    case tail::greater:
      return 0.5 * std::erfc(z / std::numbers::sqrt2);
    case tail::less:
      return 0.5 * std::erfc(-z / std::numbers::sqrt2);
  }
  return 1.0;
}

/// What is kept of pairs of correlations.
class difference_cut {
 public:
  difference_cut(double max_p, double min_abs_z, tail side, double standard_error);

  /// z and p of a pair of correlations, and whether both cuts keep it.
  struct verdict {
    double z;
    double p;
    bool is_kept;
  };
  [[nodiscard]] verdict decide(double first, double second) const;
  /// Whether a pair may be kept, by additions and multiplications: never false of a pair that
  /// decide() keeps, false where a value is NaN.
  [[nodiscard]] bool may_keep(double first, double second) const {
    return screen_.may_keep(first, second);
  }
  /// What tells most pairs without decide().
  [[nodiscard]] const difference_screen& screen() const { return screen_; }
  /// This cut, whose may_keep() also is false of pairs whose |z|, of one tail z or -z, is below
  /// `z`.
  [[nodiscard]] difference_cut screened_from(double z) const;
  /// |z|, or of one tail z or -z: what is large.
  [[nodiscard]] double directed(double z) const {
    return screen_.takes_both ? std::abs(z) : screen_.factor * z;
  }
  /// The least |z| that both cuts keep.
  [[nodiscard]] double least_z() const { return least_z_; }

 private:
  double max_p_;
  double min_abs_z_;
  tail side_;
  double standard_error_;
  double least_z_;
  difference_screen screen_;
};

}  // namespace gpu::stats
