#include "plan/screen_choice.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string_view>

#include "base/check_enumerator.hpp"
#include "plan/pair_policy.hpp"
#include "plan/short_jobs.hpp"
#include "stats/significance/significance.hpp"

namespace gpu::inline v0::detail {
namespace {

// Bound of the error of |rho| from rounding both rows of ranks to e4m3: half a unit of three
// mantissa bits is at most e = 2^-4 of a row's length, so e + e + e^2 of a pair.
constexpr double e4m3_loss = 0.129;
// The share of the time of deciding every pair that a screen may spend before it gives up.
constexpr double most_lost = 0.05;
constexpr index_t most_rank_columns = 128;
// Rounding to 127 steps up to a row's largest magnitude loses 0.29 / 127 times the ratio of that to
// its root mean square: 1.7 for ranks without ties, 3 for most counts, 3 to 4 for normal rows, more
// with outliers.
constexpr double rank_loss = 0.014;
constexpr double value_loss = 0.025;
// A sample sees a share this small as one pair in 2^20.
constexpr double most_sampled = 1 << 20;
constexpr double least_sampled = 1 << 16;
// A sampled pair of 64 columns takes 0.24 ns: as long as 300 pairs of the tiles, or 3000 of a
// screen.
constexpr double pairs_per_sampled = 1 << 17;
constexpr double most_sampled_values = 1 << 24;
constexpr double least_sampled_of_long_rows = 1024;

double rounding_loss(row_form form) {
  switch (form) {
    case row_form::ranks:
      return rank_loss;
    case row_form::unit_values:
    case row_form::signs:  // screened by exact ranks
    case row_form::bits:
      break;
  }
  return value_loss;
}

// Which screens the rows of a measure have.
enum class screen_kind { none, exact_ranks, ranks_of_signs, rounded };
screen_kind screens_of(const measure_traits& what, index_t cols, index_t packed_cols) {
  if (what.is_pairwise) return screen_kind::none;  // computed anew for each pair
  switch (what.form) {
    case row_form::ranks:
      return packed_cols > most_rank_columns ? screen_kind::rounded : screen_kind::exact_ranks;
    case row_form::unit_values:
      return screen_kind::rounded;
    case row_form::signs:  // by their ranks
      break;
    case row_form::bits:
      return screen_kind::none;
  }
  return cols > most_rank_columns ? screen_kind::none : screen_kind::ranks_of_signs;
}

bool has_tiles_of_halves(const measure_traits& what) {
  return what.form == row_form::unit_values && !what.is_pairwise;
}

// Rows rounded to 8 bits: unit values, and ranks where these need more bits.
std::vector<possible_screen> rounded_screens(const measure_traits& what, double cut, index_t cols,
                                             screen_use use, const cuda_costs& machine) {
  if (cols > kernels::screen_most_columns) return {};
  const int depth = rounded_depth(cols);
  const screen_costs& cost = depth > 128 ? machine.wide : machine.rounded;
  const double reach = cut - rounding_loss(what.form);
  if (!(reach > 0)) return {};
  const double unit = use == screen_use::counts && depth <= 128 ? machine.counted_values : 1;
  return {{{kernels::screen_operand::rounded, depth, cut, unit * cost.pair, unit * cost.candidate},
           reach}};
}

// Whether ranks rounded to e4m3 can be screened for `reach`. Short rows leave a slack of the same
// size to every sum; the smallest product of two norms is that of rows of all but one equal values.
bool e4m3_reaches(double reach, index_t cols) {
  const double least_product = static_cast<double>(cols) * static_cast<double>(cols - 1);
  return reach > 0 && (screen_depth(cols) > 32 ||
                       least_product * reach >= 2 * static_cast<double>(kernels::e4m3_sum_slack));
}

// Of ranks that fit into 8 bits; so many pairs are counted in the time of one that tiles decide.
std::vector<possible_screen> rank_screens(double cut, index_t cols, screen_use use,
                                          const screen_costs& e4m3, const screen_costs& int8,
                                          double counted) {
  std::vector<possible_screen> out;
  const int depth = screen_depth(cols);
  const double reach = cut - e4m3_loss - (depth > 32 ? double{kernels::e4m3_deep_loss} : 0.0);
  const auto add = [&](kernels::screen_operand operand, double least, const screen_costs& cost) {
    const double unit = use == screen_use::counts ? counted : 1;
    out.push_back({{operand, depth, cut, unit * cost.pair, unit * cost.candidate}, least});
  };
  if (e4m3_reaches(reach, cols)) add(kernels::screen_operand::e4m3, reach, e4m3);
  add(kernels::screen_operand::int8, cut, int8);
  return out;
}

std::string_view name_of(kernels::screen_operand operand) {
  return detail::name_in(
      operand, {"ranks rounded to e4m3", "exact ranks in int8", "rows rounded to 8 bits"});
}

double candidate_share(const possible_screen& screen, std::size_t number, index_t cols,
                       const cut_sample& sample) {
  // The share of independent rows, whose statistic passes as often as a correlation does.
  if (sample.pairs == 0) {
    return stats::p_value(screen.reach, std::max<index_t>(cols, 3), tail::two_sided);
  }
  return sample.share(sample.candidates[number]);
}

struct choice {
  std::optional<screen_choice> screen;
  double share = 0;  // candidates per pair, of the screen or of the last one
};

choice choose(const measure_traits& what, const keep_range& keep, index_t cols, screen_use use,
              const cut_sample& sample, const cuda_costs& machine) {
  choice out;
  double least = 1;  // of deciding every pair
  std::size_t number = 0;
  for (const possible_screen& possible : screens_for(what, keep, cols, use, machine)) {
    const double share = candidate_share(possible, number++, cols, sample);
    const double time = possible.time_of(share);
    if (time < least) {
      out.screen = possible.screen;
      out.screen->candidates = share;
    }
    if (time < least || !out.screen) out.share = share;
    least = std::min(least, time);
  }
  return out;
}

}  // namespace

double cut_sample::least_kept_share() const {
  const auto found = static_cast<double>(kept);
  return pairs == 0 ? 0.0
                    : std::max(0.0, found - 3 * std::sqrt(found)) / static_cast<double>(pairs);
}

double cut_sample::most_kept_share() const {
  const auto found = static_cast<double>(kept);
  // Ten of none is as unlikely.
  const double most = (found + 3 * std::sqrt(found) + 10) / static_cast<double>(pairs);
  return pairs == 0 ? 1.0 : std::min(1.0, most);
}

std::vector<possible_screen> screens_for(const measure_traits& what, const keep_range& keep,
                                         index_t cols, screen_use use, const cuda_costs& machine) {
  const double cut = std::min({keep.at_least, -keep.at_most, 1.0});
  if (!(cut > 0)) return {};
  const index_t packed_cols = what.packed_cols(cols);
  switch (screens_of(what, cols, packed_cols)) {
    case screen_kind::none:
      return {};
    case screen_kind::exact_ranks:
      if (screen_depth(packed_cols) > 32) {
        return rank_screens(cut, packed_cols, use, machine.deep_e4m3, machine.deep_int8,
                            machine.counted_deep_ranks);
      }
      return rank_screens(cut, packed_cols, use, machine.e4m3, machine.int8, machine.counted_ranks);
    case screen_kind::ranks_of_signs:
      return rank_screens(cut, cols, screen_use::edges, machine.signs_e4m3, machine.signs_int8, 1);
    case screen_kind::rounded:
      break;
  }
  return rounded_screens(what, cut, packed_cols, use, machine);
}

std::optional<screen_choice> choose_screen(const measure_traits& what, const keep_range& keep,
                                           index_t cols, screen_use use, const cut_sample& sample,
                                           const cuda_costs& machine) {
  return choose(what, keep, cols, use, sample, machine).screen;
}

bool is_short_for_screens(const measure_traits& what, index_t cols, screen_use use, double pairs,
                          const cuda_costs& machine) {
  if (use != screen_use::edges) return is_short_for_packing(pairs, machine);
  // Tiles of halves are the fastest of all tiles.
  const bool has_halves =
      has_tiles_of_halves(what) && what.packed_cols(cols) <= kernels::policy::most_half_columns;
  return has_halves && is_short_for_unit_screens(pairs, machine);
}

bool screen_goes_on(const screen_choice& screen, const screen_progress& so_far) {
  const auto cost = [&](double pairs, double candidates) {
    return pairs * screen.pair_cost + candidates * screen.candidate_cost;
  };
  if (cost(so_far.pairs, so_far.candidates) <= most_lost * so_far.all_pairs) return true;
  const double left = so_far.all_pairs - so_far.pairs;
  const double share = so_far.candidates / std::max(so_far.pairs, 1.0);
  return cost(left, left * share) <= so_far.all_pairs;
}

std::string explain_screen(const measure_traits& what, const keep_range& keep, index_t cols,
                           screen_use use, double pairs, const cut_sample& sample) {
  if (is_short_for_screens(what, cols, use, pairs)) {
    return "every pair is decided: they are too few for a screen";
  }
  const std::string source =
      sample.pairs == 0 ? "were the rows independent" : fmt::format("of {} sampled", sample.pairs);
  const auto [screen, share] = choose(what, keep, cols, use, sample, default_cuda_costs);
  if (screen) {
    return fmt::format("screened by {}: it leaves {:.2g} of the pairs to decide, {}",
                       name_of(screen->operand), share, source);
  }
  if (screens_of(what, cols, what.packed_cols(cols)) == screen_kind::none) {
    return fmt::format("every pair is decided: {} have no screen",
                       what.is_pairwise ? "rows with missing values" : "so many columns");
  }
  if (share == 0) return "every pair is decided: the cut is near 0";
  return fmt::format("every pair is decided: a screen would leave {:.2g} of them, {}", share,
                     source);
}

std::uint64_t sample_size(double pairs, index_t cols) {
  const double wanted = std::clamp(pairs / pairs_per_sampled, least_sampled, most_sampled);
  const double fitting = most_sampled_values / static_cast<double>(std::max<index_t>(cols, 1));
  return static_cast<std::uint64_t>(std::clamp(fitting, least_sampled_of_long_rows, wanted));
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

}  // namespace gpu::inline v0::detail
