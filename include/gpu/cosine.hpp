#pragma once
/// @file
/// Cosine similarity of all pairs of rows.

#include <gpu/all_pairs.hpp>
#include <gpu/matrix_input.hpp>
#include <gpu/pair_options.hpp>
#include <gpu/pair_sinks.hpp>

namespace gpu {
inline namespace v0 {

/// The cosine of the angle between every pair of rows of `data`, x . y / (|x| |y|): gpu::all_pairs
/// with measure::cosine.
///
/// Rows are scaled to unit length in double precision before they are multiplied, so large values
/// do not overflow. Every keep-or-drop decision is the one of the double-precision cosine, whose
/// summation order is fixed and the same on every backend. A dense result in doubles is that
/// cosine, one in floats has at most float32-level error. A row of zeros, or with an infinite
/// value, has no statistic; a row of equal values has one. There is no significance test: cut by
/// pair_filter::min_abs; p of an edge is NaN, and a cut on p or an adjustment throws
/// gpu::unsupported.
///
/// Parameters, results, errors and cost as gpu::all_pairs. cols from 1 on. Folded sinks are not
/// taken.
template <table_like Data, unfolded_pair_sink Sink = dense_sink>
sink_result_t<Sink> cosine_all_pairs(const Data& data, const pair_options& options = {},
                                     const Sink& sink = {}) {
  return all_pairs(measure::cosine, data, options, sink);
}

/// As above with the default options.
template <table_like Data, unfolded_pair_sink Sink>
sink_result_t<Sink> cosine_all_pairs(const Data& data, const Sink& sink) {
  return all_pairs(measure::cosine, data, sink);
}

/// The same of every row of `x` with every row of `y`: see gpu::all_pairs.
template <table_like X, table_like Y, unfolded_pair_sink Sink = dense_sink>
  requires detail::tables_together<X, Y>
sink_result_t<Sink> cosine_all_pairs(const X& x, const Y& y, const pair_options& options = {},
                                     const Sink& sink = {}) {
  return all_pairs(measure::cosine, x, y, options, sink);
}

/// As above with the default options.
template <table_like X, table_like Y, unfolded_pair_sink Sink>
  requires detail::tables_together<X, Y>
sink_result_t<Sink> cosine_all_pairs(const X& x, const Y& y, const Sink& sink) {
  return all_pairs(measure::cosine, x, y, sink);
}

}  // namespace v0
}  // namespace gpu
