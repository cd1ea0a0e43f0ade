#include "plan/fold_choice.hpp"

#include <fmt/format.h>

#include <limits>

#include <gpu/error.hpp>

#include "plan/machine_costs.hpp"

namespace gpu::inline v0::detail {
namespace {

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
    if (is_pairwise(what)) {
      throw unsupported(
          "options.fold: rows are folded by their ranks, which with nan_policy::pairwise each pair "
          "has of its own");
    }
    if (what.info.test == significance::permutations) {
      throw unsupported(
          "options.fold: rows are not folded with options.p_method exact, where p depends on the "
          "ties of both rows, expected automatic or never");
    }
    if (what.covariates > 0) {
      throw unsupported(
          "options.fold: rows are folded by their ranks, and those that lost their fit on "
          "options.covariates have none");
    }
    throw unsupported(
        fmt::format("options.fold: rows are folded by their ranks, {} has none", what.info.title));
  }
  if (options.fold == row_folding::automatic) {
    return ranks && variant != pair_variant::naive && rows >= default_fold_costs.least_rows;
  }
  return options.fold == row_folding::always;
}

double most_pattern_share(row_folding fold, backend used, pair_variant variant) {
  if (fold == row_folding::always) return std::numeric_limits<double>::infinity();
  return used == backend::cuda && variant == pair_variant::hopper
             ? default_cuda_costs.most_pattern_share_of_warpgroups
             : default_fold_costs.most_pattern_share;
}

bool folds_for_counts(const pair_filter& keep) {
  return keep.adjust != adjustment::none || keep.max_p <= most_strict_p ||
         keep.min_abs >= least_strict_statistic;
}

}  // namespace gpu::inline v0::detail
