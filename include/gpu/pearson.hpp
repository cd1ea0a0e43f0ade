#pragma once
/// @file
/// Pearson's product-moment correlation of all pairs of rows, with p-values.

#include <type_traits>

#include <gpu/detail/all_pairs.hpp>
#include <gpu/matrix_view.hpp>
#include <gpu/pair_options.hpp>
#include <gpu/pair_sinks.hpp>

namespace gpu {
inline namespace v0 {

/// Pearson's r of every pair of rows of `data`; `sink` says what to keep.
///
/// Rows are centred and scaled to unit length in double precision before they are multiplied, so
/// large means do not cancel. Every keep-or-drop decision is the one of the double-precision r,
/// whose summation order is fixed and the same on every backend. A dense result has at most
/// float32-level error. An infinite value makes its row one without a statistic.
///
/// Parameters, results, errors and cost as spearman_all_pairs.
template <class T, pair_sink Sink = dense_sink>
requires element<std::remove_const_t<T>> sink_result_t<Sink> pearson_all_pairs(
    matrix_view<T> data, const pearson_options& options = {}, const Sink& sink = {}) {
  return detail::all_pairs(detail::measure::pearson, detail::erase_type(data), options, sink);
}

}  // namespace v0
}  // namespace gpu
