#pragma once
// The one definition of the statistic of two rows with missing values, over the columns that both
// have. Host and device compile the same functions, and give the same bits.
//
// Ranks: each row is ranked anew over the shared columns, as centred ranks, and rho_of of the three
// exact sums decides.
//
// Values: a row is scaled by a power of two and, where the measure centres, shifted by the mean of
// the values that it has. Five sums over the shared columns, in the order of the columns, give the
// statistic, where they keep enough digits. Else, and where one row may be constant on what is
// shared, careful_statistic computes it from the values themselves, centred anew.

#include <cmath>

#include <gpu/index.hpp>

#include "base/host_device.hpp"
#include "stats/statistic.hpp"
#include "stats/unit_rows.hpp"

namespace gpu::inline v0::detail {

/// Sums over the columns that rows x and y share; products enter by fma.
struct shared_sums {
  double xy = 0;
  double x = 0;
  double y = 0;
  double xx = 0;  ///< Of squares that are rounded first.
  double yy = 0;
};

/// A variance that is a smaller share of the mean square has lost ten bits and more to
/// cancellation.
inline constexpr double least_variance_share = 0x1p-10;
/// Sums of squares below this may have lost digits to underflow, or lose them in their product.
inline constexpr double least_square_sum = 1e-140;

/// What `sum_of_squares` is of `count` values around their mean, times count.
GPU_SIMILARITY_INLINE_HOST_DEVICE double shared_variance(double sum, double sum_of_squares,
                                                         double count, row_centre centre) {
  if (!is_centred(centre)) return count * sum_of_squares;
  return fma(count, sum_of_squares, -(sum * sum));
}

/// Whether a row's shared_variance and sum of squares keep enough digits.
GPU_SIMILARITY_INLINE_HOST_DEVICE bool variance_tells(double variance, double sum_of_squares,
                                                      double count) {
  return variance > least_variance_share * (count * sum_of_squares) &&
         sum_of_squares > least_square_sum;
}

/// What the sum of the products of both rows is around their means, times count.
GPU_SIMILARITY_INLINE_HOST_DEVICE double shared_covariance(double sum_of_products, double x,
                                                           double y, double count,
                                                           row_centre centre) {
  if (!is_centred(centre)) return count * sum_of_products;
  return fma(count, sum_of_products, -(x * y));
}

/// The statistic from the shared covariance and variances; NaN where one of these is.
GPU_SIMILARITY_INLINE_HOST_DEVICE double statistic_of_variances(double xy, double xx, double yy) {
  return rho_at_scale(xy, rho_scale(xx, yy));
}

/// The statistic of `count` shared columns from their sums; NaN where they do not tell it.
GPU_SIMILARITY_INLINE_HOST_DEVICE double statistic_of_sums(const shared_sums& sums, double count,
                                                           row_centre centre) {
  const double xx = shared_variance(sums.x, sums.xx, count, centre);
  const double yy = shared_variance(sums.y, sums.yy, count, centre);
  const bool tells = variance_tells(xx, sums.xx, count) && variance_tells(yy, sums.yy, count);
  const double xy = shared_covariance(sums.xy, sums.x, sums.y, count, centre);
  const double r = statistic_of_variances(xy, xx, yy);
  return tells ? r : no_statistic;
}

/// A row over shared columns as careful_statistic sees it: values scaled and centred when they are
/// read. `Row` has is_shared(k) and value(k).
template <class Row>
class careful_row {
 public:
  GPU_SIMILARITY_HOST_DEVICE careful_row(const Row& row, index_t cols, double count,
                                         row_centre centre)
      : row_(row) {
    double largest = 0;
    double first = 0;
    bool any = false;
    bool varies = false;
    for (index_t k = 0; k < cols; ++k) {
      if (!row.is_shared(k)) continue;
      const double value = row.value(k);
      if (!any) first = value;
      any = true;
      varies = varies || value != first;
      const double magnitude = fabs(value);
      if (magnitude > largest) largest = magnitude;
    }
    has_statistic_ = is_centred(centre) ? varies : largest > 0;
    if (!has_statistic_) return;
    scale_ = power_of_two_scale(largest);
    if (is_centred(centre)) {
      mean_ = mean_of(cols, count);
      second_mean_ = mean_of(cols, count);
    }
    double rest = 0;
    for (index_t k = 0; k < cols; ++k) {
      if (row.is_shared(k) && fabs(value(k)) > rest) rest = fabs(value(k));
    }
    has_statistic_ = rest > 0;
    if (has_statistic_) rest_scale_ = power_of_two_scale(rest);
  }

  [[nodiscard]] GPU_SIMILARITY_HOST_DEVICE bool has_statistic() const { return has_statistic_; }
  [[nodiscard]] GPU_SIMILARITY_HOST_DEVICE double value(index_t k) const {
    return (((row_.value(k) * scale_) - mean_) - second_mean_) * rest_scale_;
  }

 private:
  [[nodiscard]] GPU_SIMILARITY_HOST_DEVICE double mean_of(index_t cols, double count) const {
    double sum = 0;
    for (index_t k = 0; k < cols; ++k) {
      if (row_.is_shared(k)) sum += value(k);
    }
    return sum / count;
  }

  const Row& row_;
  bool has_statistic_ = false;
  double scale_ = 1;
  double mean_ = 0;
  double second_mean_ = 0;
  double rest_scale_ = 1;
};

/// The statistic of two rows over `count` shared columns of `cols`, by several passes; NaN where
/// one of them is constant there, or zero where the measure does not centre.
template <class X, class Y>
GPU_SIMILARITY_HOST_DEVICE double careful_statistic(const X& x, const Y& y, index_t cols,
                                                    double count, row_centre centre) {
  const careful_row<X> left(x, cols, count, centre);
  const careful_row<Y> right(y, cols, count, centre);
  if (!left.has_statistic() || !right.has_statistic()) {
    return no_statistic;
  }
  double xy = 0;
  double xx = 0;
  double yy = 0;
  for (index_t k = 0; k < cols; ++k) {
    if (!x.is_shared(k)) continue;
    const double a = left.value(k);
    const double b = right.value(k);
    xy = fma(a, b, xy);
    xx = fma(a, a, xx);
    yy = fma(b, b, yy);
  }
  return clip_correlation(xy / (sqrt(xx) * sqrt(yy)));
}

/// What is known of a row before any pair is.
struct shared_row_scale {
  bool has_statistic;  ///< Whether it may have one with any row.
  double scale;        ///< A power of two.
  double mean;         ///< Of the scaled values, 0 where rows are not centred.
};

/// Looks at a row of `cols` values, NaN where one is missing. An infinite value leaves the row
/// without a statistic.
template <class Row>
GPU_SIMILARITY_HOST_DEVICE inline shared_row_scale look_at_row(const Row& row, index_t cols,
                                                               index_t min_observations,
                                                               row_centre centre) {
  shared_row_scale out{false, 1, 0};
  double largest = 0;
  double first = 0;
  index_t count = 0;
  bool varies = false;
  for (index_t k = 0; k < cols; ++k) {
    const double value = row(k);
    if (value != value) continue;
    const double magnitude = fabs(value);
    if (!(magnitude <= 1.7976931348623157e308)) return out;
    if (count == 0) first = value;
    varies = varies || value != first;
    if (magnitude > largest) largest = magnitude;
    ++count;
  }
  out.has_statistic = count >= min_observations && (is_centred(centre) ? varies : largest > 0);
  if (!out.has_statistic) return out;
  out.scale = power_of_two_scale(largest);
  if (!is_centred(centre)) return out;
  double sum = 0;
  for (index_t k = 0; k < cols; ++k) {
    const double value = row(k);
    if (value == value) sum += value * out.scale;
  }
  out.mean = sum / static_cast<double>(count);
  return out;
}

/// A value of the row as the sums take it; 0 where it is missing.
GPU_SIMILARITY_INLINE_HOST_DEVICE double shared_value(double value, const shared_row_scale& how) {
  return value == value ? value * how.scale - how.mean : 0.0;
}

}  // namespace gpu::inline v0::detail
