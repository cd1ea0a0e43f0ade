#pragma once
/// @file
/// Pearson's product-moment correlation of all pairs of rows, with p-values.

#include <gpu/all_pairs.hpp>
#include <gpu/matrix_input.hpp>
#include <gpu/pair_options.hpp>
#include <gpu/pair_sinks.hpp>

namespace gpu {
inline namespace v0 {

/// Pearson's r of every pair of rows of `data`: gpu::all_pairs with measure::pearson.
///
/// Rows are centred and scaled to unit length in double precision before they are multiplied, so
/// large means do not cancel. Every keep-or-drop decision is the one of the double-precision r,
/// whose summation order is fixed and the same on every backend. A dense result in doubles is that
/// r, one in floats has at most float32-level error. An infinite value makes its row one without a
/// statistic.
///
/// Parameters, results, errors and cost as gpu::all_pairs. cols from 3 on. Folded sinks are not
/// taken, since equal rows need not have an r of exactly 1.
template <table_like Data, unfolded_pair_sink Sink = dense_sink>
sink_result_t<Sink> pearson_all_pairs(const Data& data, const pearson_options& options = {},
                                      const Sink& sink = {}) {
  return all_pairs(measure::pearson, data, options, sink);
}

/// As above with the default options.
template <table_like Data, unfolded_pair_sink Sink>
sink_result_t<Sink> pearson_all_pairs(const Data& data, const Sink& sink) {
  return all_pairs(measure::pearson, data, sink);
}

/// The same of every row of `x` with every row of `y`: see gpu::all_pairs.
template <table_like X, table_like Y, unfolded_pair_sink Sink = dense_sink>
  requires detail::tables_together<X, Y>
sink_result_t<Sink> pearson_all_pairs(const X& x, const Y& y, const pearson_options& options = {},
                                      const Sink& sink = {}) {
  return all_pairs(measure::pearson, x, y, options, sink);
}

/// As above with the default options.
template <table_like X, table_like Y, unfolded_pair_sink Sink>
  requires detail::tables_together<X, Y>
sink_result_t<Sink> pearson_all_pairs(const X& x, const Y& y, const Sink& sink) {
  return all_pairs(measure::pearson, x, y, sink);
}

}  // namespace v0
}  // namespace gpu
