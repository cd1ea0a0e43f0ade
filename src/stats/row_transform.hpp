#pragma once
// What becomes of a row, as doubles, before it is scaled to unit length (stats/unit_rows.hpp): one
// concept for every measure whose statistic is the cosine of transformed rows.
//
// A transform does its own centring, so that what it leaves is scaled as it is (row_centre::none).
// A row that has no statistic becomes zeros; one with a value that is not finite stays as it is.
//
// Host and device compile the same functions here, without fused products (-ffp-contract=off,
// -fmad=false), and every sum has the order of stats/unit_rows.hpp, so each backend gives the same
// bits.

#include <cmath>

#include <gpu/index.hpp>

#include "base/host_device.hpp"

namespace gpu::inline v0::detail {

/// How a row is transformed.
enum class row_transform {
  none,     ///< Not at all.
  biweight  ///< Weighted by its distance from the median: see biweight.
};

/// The median of n sorted values is half the sum of those at these two places, counted from 0.
GPU_SIMILARITY_HOST_DEVICE constexpr index_t lower_middle(index_t n) {
  return (n - 1) / 2;
}
GPU_SIMILARITY_HOST_DEVICE constexpr index_t upper_middle(index_t n) {
  return n / 2;
}

/// A median that is never rounded: it is kept as the two middle values.
struct row_median {
  double lower;
  double upper;

  /// 2 (x - median). No value of the row lies between the middle ones, so the two differences have
  /// one sign and nothing cancels: the relative error is at most 2^-52, however far the row is from
  /// zero. Rises with x. Of one middle value it is exactly twice the difference from it.
  [[nodiscard]] GPU_SIMILARITY_HOST_DEVICE double twice_distance(double x) const {
    return (x - lower) + (x - upper);
  }
};

/// Biweight: x becomes 2 (x - median) (1 - a^2)^2, where a = (x - median) / (9 MAD), and 0 where
/// |a| >= 1. MAD is the median of |x - median|. The factor 2 leaves with the length of the row. The
/// row is first scaled by power_of_two_scale of its largest magnitude, so that nothing overflows.
/// Where MAD is 0 the row is centred by its mean instead, and once more by the mean of what is
/// left, as row_centre::mean does: it is a row of Pearson's r then.
struct biweight {
  row_median median;
  double reach;  ///< 2 * 9 MAD; 0 where MAD is.

  /// `of_distances`: the median of |2 (x - median)|, half the sum of its middle values.
  GPU_SIMILARITY_HOST_DEVICE biweight(const row_median& of_row, const row_median& of_distances)
      : median(of_row), reach(4.5 * (of_distances.lower + of_distances.upper)) {}

  [[nodiscard]] GPU_SIMILARITY_HOST_DEVICE double of(double x) const {
    const double distance = median.twice_distance(x);
    const double a = distance / reach;
    const double rest = 1.0 - a * a;
    return fabs(a) < 1.0 ? distance * (rest * rest) : 0.0;
  }
};

/// A value of a row to be transformed, in scale. Adding 0 leaves no negative zero, which a sort
/// and a comparison would treat differently.
GPU_SIMILARITY_HOST_DEVICE inline double in_scale(double x, double scale) {
  return x * scale + 0.0;
}

}  // namespace gpu::inline v0::detail
