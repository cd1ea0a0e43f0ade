#include "plan/fold_choice.hpp"

#include <array>
#include <limits>

#include <gpu/error.hpp>

#include "plan/machine_costs.hpp"
#include "plan/short_jobs.hpp"

namespace gpu::inline v0::detail {
namespace {

// Cuts that few pairs pass.
constexpr double most_strict_p = 1e-4;
constexpr double least_strict_statistic = 0.5;

// From so many rows for each order that the columns can have on, patterns are few whatever the
// values.
constexpr index_t least_rows_per_order = 32;

}  // namespace

fold_scope scope_of(row_folding asked, fold_scope of_sink) {
  if (asked == row_folding::automatic) return of_sink;
  return asked == row_folding::always ? fold_scope::always : fold_scope::never;
}

bool looks_for_patterns(const measure_traits& what, backend used, pair_variant variant,
                        const fold_job& job) {
  if (job.scope == fold_scope::never || what.info.equals != equal_rows::folded) return false;
  const bool is_naive = variant == pair_variant::naive;
  if (job.scope == fold_scope::always) {
    if (!is_naive || used == backend::cpu) return true;
    throw unsupported("options.fold: the naive variant on cuda keeps no ranks to fold by");
  }
  const bool is_short = used == backend::cuda ? is_short_for_folding(static_cast<double>(job.rows))
                                              : job.rows < default_fold_costs.least_rows;
  const bool has_many = job.scope != fold_scope::few_patterns && !is_short;
  const bool has_few = job.scope != fold_scope::many_rows && used == backend::cpu &&
                       has_few_patterns(job.rows, job.cols);
  return !is_naive && (has_many || has_few);
}

double most_pattern_share(fold_scope scope, backend used, pair_variant variant) {
  if (scope == fold_scope::always) return std::numeric_limits<double>::infinity();
  return used == backend::cuda && variant == pair_variant::hopper
             ? default_cuda_costs.most_pattern_share_of_warpgroups
             : default_fold_costs.most_pattern_share;
}

bool has_few_patterns(index_t rows, index_t cols) {
  // Orders of so many values, ties included: the Fubini numbers.
  constexpr std::array<index_t, 9> orders{1, 1, 3, 13, 75, 541, 4683, 47293, 545835};
  if (cols < 0 || cols >= static_cast<index_t>(orders.size())) return false;
  return rows / least_rows_per_order >= orders[static_cast<std::size_t>(cols)];
}

fold_scope scope_of_counts(const pair_filter& keep) {
  const bool is_strict = keep.adjust != adjustment::none || keep.max_p <= most_strict_p ||
                         keep.min_abs >= least_strict_statistic;
  return is_strict ? fold_scope::both : fold_scope::few_patterns;
}

fold_scope scope_of_edges(edge_order order) {
  return order == edge_order::by_row_then_column ? fold_scope::both : fold_scope::many_rows;
}

}  // namespace gpu::inline v0::detail
