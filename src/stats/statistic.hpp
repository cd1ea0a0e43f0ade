#pragma once
// The one definition of rho. Host and device compile the same expression; it holds no product
// followed by a sum, so no compiler can contract it, and double division and square root are
// correctly rounded on both.

#include <cmath>
#include <cstdint>

#include "base/host_device.hpp"

namespace gpu::inline v0::detail {

/// S_xy / sqrt(S_xx * S_yy), one rounding each. Clipped to [-1, 1]: S_xx * S_yy may round down.
GPU_SIMILARITY_HOST_DEVICE inline double rho_of(std::int64_t product_sum, std::int64_t square_sum_x,
                                                std::int64_t square_sum_y) {
  const double scale = sqrt(static_cast<double>(square_sum_x) * static_cast<double>(square_sum_y));
  const double rho = static_cast<double>(product_sum) / scale;
  return rho > 1.0 ? 1.0 : (rho < -1.0 ? -1.0 : rho);
}

}  // namespace gpu::inline v0::detail
