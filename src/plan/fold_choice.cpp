#include "plan/fold_choice.hpp"

#include <fmt/format.h>

#include <limits>

#include <gpu/error.hpp>

namespace gpu::inline v0::detail {
namespace {

// Below, all pairs of the rows take less time than it takes to find the patterns.
constexpr index_t least_rows = 8192;
// Patterns per row up to which folding pays: at 0.8 there are 0.64 times as many pairs, and weights
// and the expansion of the result cost a part of what that saves.
constexpr double most_plain_share = 0.8;
// On warpgroup tensor cores counts and best partners are computed far faster from rows without
// weights: counts of 2,000,000 x 30 at 0.72 patterns a row took 0.78 s from rows and 1.23 s from
// patterns (H100). So folding pays from three rows a pattern on.
constexpr double most_hopper_share = 1.0 / 3;
// Cuts that few pairs pass.
constexpr double most_strict_p = 1e-4;
constexpr double least_strict_statistic = 0.5;

}  // namespace

bool looks_for_patterns(const measure_traits& what, backend used, pair_variant variant,
                        index_t rows, const pair_options& options) {
  const bool ranks = what.info.equals == equal_rows::folded &&
                     !(used == backend::cuda && variant == pair_variant::naive);
  if (options.fold == row_folding::always && !ranks) {
    if (what.info.equals == equal_rows::folded) {
      throw unsupported("options.fold: the naive variant on cuda keeps no ranks to fold by");
    }
    throw unsupported(
        fmt::format("options.fold: rows are folded by their ranks, {} has none", what.info.title));
  }
  if (options.fold == row_folding::automatic) {
    return ranks && variant != pair_variant::naive && rows >= least_rows;
  }
  return options.fold == row_folding::always;
}

double most_pattern_share(row_folding fold, backend used, pair_variant variant) {
  if (fold == row_folding::always) return std::numeric_limits<double>::infinity();
  return used == backend::cuda && variant == pair_variant::hopper ? most_hopper_share
                                                                  : most_plain_share;
}

bool folds_for_counts(const pair_filter& keep) {
  return keep.adjust != adjustment::none || keep.max_p <= most_strict_p ||
         keep.min_abs >= least_strict_statistic;
}

}  // namespace gpu::inline v0::detail
