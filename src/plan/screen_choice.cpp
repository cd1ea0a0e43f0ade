#include "plan/screen_choice.hpp"

#include <algorithm>
#include <cmath>

#include <gpu/p_value.hpp>

namespace gpu::detail {
namespace {

// Bound of what rounding both rows of ranks to e4m3 can take from |rho|: half a unit of three
// mantissa bits, e = 2^-4 of a row's length at most, so e + e + e^2 of a pair.
constexpr double e4m3_loss = 0.129;
// Shares of independent pairs that the screens let pass at nearly full speed: at n = 2,000,000 x 30
// on an H200, e4m3 ran 25.2e12 pairs/s with 3e-7 of them candidates and 22.1e12 with 3e-6; int8
// 14.3e12 with none and 13.4e12 with 5e-6.
constexpr double most_e4m3_share = 1e-5;
constexpr double most_int8_share = 3e-5;
constexpr index_t most_columns = 128;

}  // namespace

std::optional<screen_choice> choose_screen(const keep_range& keep, index_t cols) {
  const double cut = std::min(keep.at_least, -keep.at_most);
  if (cols > most_columns || !(cut > 0)) return std::nullopt;
  const double within = std::min(cut, 1.0);
  const double loose = within - e4m3_loss;
  // The smallest product of two norms: rows of all but one equal values.
  const double least_product = static_cast<double>(cols) * static_cast<double>(cols - 1);
  if (cols <= kernels::screen_bias_columns &&
      least_product * loose >= 2 * static_cast<double>(kernels::e4m3_sum_slack) &&
      correlation_p_value(loose, cols) <= most_e4m3_share) {
    return screen_choice{kernels::screen_operand::e4m3, 32, within};
  }
  if (correlation_p_value(within, cols) > most_int8_share) return std::nullopt;
  return screen_choice{kernels::screen_operand::int8, screen_depth(cols), within};
}

int screen_depth(index_t cols) {
  if (cols <= kernels::screen_bias_columns) return 32;
  return static_cast<int>(std::max<index_t>(64, (cols + 31) / 32 * 32));
}

}  // namespace gpu::detail
