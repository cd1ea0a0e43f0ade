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
constexpr index_t most_rank_columns = 128;
// Candidates per pair up to which the exact screens run on.
constexpr double most_share = 1e-4;
constexpr double least_judged_pairs = 1e9;
// Rounding to 127 steps up to a row's largest magnitude loses 0.29 / 127 times the ratio of that to
// its root mean square: 1.7 for ranks without ties, 3 for most counts, 3 to 4 for normal rows, more
// with outliers. A row with more than was assumed lets more pass; the share of candidates, which is
// looked at as they come, then ends the screen.
constexpr double rank_loss = 0.014;
constexpr double value_loss = 0.025;
// Each candidate costs two rows' worth of memory, each pair of the tiles a hundredth of that.
constexpr double most_rounded_share = 5e-4;
constexpr double most_wide_share = 2e-3;
constexpr double least_judged_wide_pairs = 1e7;

// Rows rounded to 8 bits: Pearson, and Spearman where ranks need more bits.
std::optional<screen_choice> choose_rounded_screen(measure what, double cut, index_t cols) {
  const int depth = rounded_depth(cols);
  if (cols > kernels::screen_most_columns) return std::nullopt;
  const bool wide = depth > 128;
  const double share = wide ? most_wide_share : most_rounded_share;
  const double loose = cut - (what == measure::spearman ? rank_loss : value_loss);
  // Half of the share is left to rows that depend on each other.
  if (!(loose > 0) || correlation_p_value(loose, cols) > share / 2) return std::nullopt;
  return screen_choice{kernels::screen_operand::rounded, depth, cut, share,
                       wide ? least_judged_wide_pairs : least_judged_pairs};
}

// Whether few enough pairs pass where ranks are rounded to e4m3.
bool rounded_ranks_decide(double cut, index_t cols) {
  const bool deep = screen_depth(cols) > 32;
  const double loose = cut - e4m3_loss - (deep ? double{kernels::e4m3_deep_loss} : 0.0);
  if (!(loose > 0) || correlation_p_value(loose, cols) > most_e4m3_share) return false;
  // Short rows leave a slack of the same size to every sum; the smallest product of two norms is
  // that of rows of all but one equal values.
  const double least_product = static_cast<double>(cols) * static_cast<double>(cols - 1);
  return deep || least_product * loose >= 2 * static_cast<double>(kernels::e4m3_sum_slack);
}

}  // namespace

std::optional<screen_choice> choose_screen(measure what, const keep_range& keep, index_t cols) {
  const double cut = std::min(keep.at_least, -keep.at_most);
  if (!(cut > 0)) return std::nullopt;
  const double within = std::min(cut, 1.0);
  if (what == measure::pearson || cols > most_rank_columns) {
    return choose_rounded_screen(what, within, cols);
  }
  if (rounded_ranks_decide(within, cols)) {
    return screen_choice{kernels::screen_operand::e4m3, screen_depth(cols), within, most_share,
                         least_judged_pairs};
  }
  if (correlation_p_value(within, cols) > most_int8_share) return std::nullopt;
  return screen_choice{kernels::screen_operand::int8, screen_depth(cols), within, most_share,
                       least_judged_pairs};
}

int screen_depth(index_t cols) {
  if (cols <= kernels::screen_bias_columns) return 32;
  return static_cast<int>(std::max<index_t>(64, (cols + 31) / 32 * 32));
}

int rounded_depth(index_t cols) {
  const index_t step = cols <= 128 ? 32 : kernels::screen_plane_columns;
  // Unit rows are padded to a multiple of 8 columns.
  return static_cast<int>(std::max<index_t>(64, (cols + step - 1) / step * step));
}

}  // namespace gpu::detail
