#pragma once
/// @file
/// Biweight midcorrelation of all pairs of rows, with p-values.

#include <gpu/all_pairs.hpp>
#include <gpu/matrix_input.hpp>
#include <gpu/pair_options.hpp>
#include <gpu/pair_sinks.hpp>

namespace gpu {
inline namespace v0 {

/// The biweight midcorrelation of every pair of rows of `data`: gpu::all_pairs with measure::bicor.
/// It is a correlation that outliers do not move: values far from the median of their row count
/// little or nothing.
///
/// With the median of a row, and MAD the median of |x - median|, let a = (x - median) / (9 MAD) and
/// w = (1 - a^2)^2 where |a| < 1, else 0. The statistic is the cosine of the rows (x - median) w,
/// as `bicor` of R's WGCNA. A row whose MAD is 0 (more than half of its values are equal) is
/// treated as in Pearson's r instead. p is Student's t with cols - 2 degrees of freedom.
///
/// All of it is computed in double precision, in a fixed order that is the same on every backend,
/// and every keep-or-drop decision is the one of that double. A dense result in doubles is it, one
/// in floats has at most float32-level error. A row of equal values, or with an infinite value, has
/// no statistic. With nan_policy::pairwise, on CUDA up to 4,096 columns, median, MAD and weights
/// come from the columns that a pair shares.
///
/// Parameters, results, errors and cost as gpu::all_pairs, and medians for rows * cols. cols from 3
/// on. Folded sinks are not taken.
template <table_like Data, unfolded_pair_sink Sink = dense_sink>
sink_result_t<Sink> bicor_all_pairs(const Data& data, const pair_options& options = {},
                                    const Sink& sink = {}) {
  return all_pairs(measure::bicor, data, options, sink);
}

/// As above with the default options.
template <table_like Data, unfolded_pair_sink Sink>
sink_result_t<Sink> bicor_all_pairs(const Data& data, const Sink& sink) {
  return all_pairs(measure::bicor, data, sink);
}

/// The same of every row of `x` with every row of `y`: see gpu::all_pairs.
template <table_like X, table_like Y, unfolded_pair_sink Sink = dense_sink>
  requires detail::tables_together<X, Y>
sink_result_t<Sink> bicor_all_pairs(const X& x, const Y& y, const pair_options& options = {},
                                    const Sink& sink = {}) {
  return all_pairs(measure::bicor, x, y, options, sink);
}

/// As above with the default options.
template <table_like X, table_like Y, unfolded_pair_sink Sink>
  requires detail::tables_together<X, Y>
sink_result_t<Sink> bicor_all_pairs(const X& x, const Y& y, const Sink& sink) {
  return all_pairs(measure::bicor, x, y, sink);
}

}  // namespace v0
}  // namespace gpu
