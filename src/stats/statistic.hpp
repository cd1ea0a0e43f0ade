#pragma once
// The one definition of rho. Host and device compile the same expressions; they hold no product
// followed by a sum, so no compiler can contract them, and double division and square root are
// correctly rounded on both.

#include <cmath>
#include <cstdint>
#include <limits>

#include "base/host_device.hpp"

namespace gpu::inline v0::detail {

/// What stands for a pair without a statistic.
inline constexpr double no_statistic = std::numeric_limits<double>::quiet_NaN();

/// What a product sum of two rows is divided by: sqrt(S_xx * S_yy), one rounding each.
GPU_SIMILARITY_INLINE_HOST_DEVICE double rho_scale(double square_sum_x, double square_sum_y) {
  return sqrt(square_sum_x * square_sum_y);
}

/// S_xy / scale, clipped to [-1, 1]: S_xx * S_yy may round down.
GPU_SIMILARITY_INLINE_HOST_DEVICE double rho_at_scale(double product_sum, double scale) {
  const double rho = product_sum / scale;
  return rho > 1.0 ? 1.0 : (rho < -1.0 ? -1.0 : rho);
}

/// S_xy / sqrt(S_xx * S_yy).
GPU_SIMILARITY_INLINE_HOST_DEVICE double rho_of(std::int64_t product_sum, std::int64_t square_sum_x,
                                                std::int64_t square_sum_y) {
  const double scale =
      rho_scale(static_cast<double>(square_sum_x), static_cast<double>(square_sum_y));
  return rho_at_scale(static_cast<double>(product_sum), scale);
}

/// The same of the columns that a pair takes, on which either row may be constant: then there is
/// none.
GPU_SIMILARITY_INLINE_HOST_DEVICE double rho_or_none(std::int64_t product_sum,
                                                     std::int64_t square_sum_x,
                                                     std::int64_t square_sum_y) {
  return square_sum_x > 0 && square_sum_y > 0 ? rho_of(product_sum, square_sum_x, square_sum_y)
                                              : no_statistic;
}

}  // namespace gpu::inline v0::detail
