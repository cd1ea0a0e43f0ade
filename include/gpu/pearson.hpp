#pragma once
/// @file
/// Pearson's product-moment correlation of all pairs of rows, with p-values.

#include <concepts>

#include <gpu/detail/all_pairs.hpp>
#include <gpu/matrix_input.hpp>
#include <gpu/pair_options.hpp>
#include <gpu/pair_sinks.hpp>

namespace gpu {
inline namespace v0 {

/// The sinks of pearson_all_pairs: all but those between patterns of rows, since equal rows need
/// not have an r of exactly 1.
template <class Sink>
concept pearson_sink = pair_sink<Sink> && !std::same_as<Sink, folded_edge_sink> &&
                       !std::same_as<Sink, folded_stream_sink>;

/// Pearson's r of every pair of rows of `data`; `sink` says what to keep.
///
/// Rows are centred and scaled to unit length in double precision before they are multiplied, so
/// large means do not cancel. Every keep-or-drop decision is the one of the double-precision r,
/// whose summation order is fixed and the same on every backend. A dense result has at most
/// float32-level error. An infinite value makes its row one without a statistic.
///
/// Parameters, results, errors and cost as spearman_all_pairs; folded sinks are not taken.
template <class Data, pearson_sink Sink = dense_sink>
sink_result_t<Sink> pearson_all_pairs(const Data& data, const pearson_options& options = {},
                                      const Sink& sink = {}) {
  return detail::all_pairs(detail::measure::pearson, detail::read_matrix(data), options, sink);
}

/// As above with the default options.
template <class Data, pearson_sink Sink>
sink_result_t<Sink> pearson_all_pairs(const Data& data, const Sink& sink) {
  return pearson_all_pairs(data, pearson_options{}, sink);
}

}  // namespace v0
}  // namespace gpu
