#pragma once
/// @file
/// Spearman's rank correlation of all pairs of rows, with p-values.

#include <gpu/all_pairs.hpp>
#include <gpu/matrix_input.hpp>
#include <gpu/pair_options.hpp>
#include <gpu/pair_sinks.hpp>

namespace gpu {
inline namespace v0 {

/// Spearman's rho of every pair of rows of `data`: gpu::all_pairs with measure::spearman.
///
/// Exact: with average ranks r, u = 2 r - (cols + 1) is an integer, and rho is *defined* as the
/// IEEE double S_xy / sqrt(S_xx * S_yy) of the exact integer sums of products, one rounding each.
/// Every keep-or-drop decision equals that of comparing this rho with the cut, on every backend,
/// variant and device. p is Student's t with cols - 2 degrees of freedom:
/// t = rho sqrt((cols - 2) / ((1 + rho) (1 - rho))), as scipy.stats.spearmanr.
///
/// Parameters, results, errors and cost as gpu::all_pairs. cols from 3 to 3,000,000. Rows of equal
/// ranks can be folded (options.fold): then the pairs cost patterns^2 / 2 * cols. Ranking costs
/// rows * cols * log(cols). Folded sinks are taken.
template <table_like Data, pair_sink Sink = dense_sink>
sink_result_t<Sink> spearman_all_pairs(const Data& data, const spearman_options& options = {},
                                       const Sink& sink = {}) {
  return all_pairs(measure::spearman, data, options, sink);
}

/// As above with the default options.
template <table_like Data, pair_sink Sink>
sink_result_t<Sink> spearman_all_pairs(const Data& data, const Sink& sink) {
  return all_pairs(measure::spearman, data, sink);
}

/// The same of every row of `x` with every row of `y`: see gpu::all_pairs.
template <table_like X, table_like Y, pair_sink Sink = dense_sink>
  requires detail::tables_together<X, Y>
sink_result_t<Sink> spearman_all_pairs(const X& x, const Y& y, const spearman_options& options = {},
                                       const Sink& sink = {}) {
  return all_pairs(measure::spearman, x, y, options, sink);
}

/// As above with the default options.
template <table_like X, table_like Y, pair_sink Sink>
  requires detail::tables_together<X, Y>
sink_result_t<Sink> spearman_all_pairs(const X& x, const Y& y, const Sink& sink) {
  return all_pairs(measure::spearman, x, y, sink);
}

}  // namespace v0
}  // namespace gpu
