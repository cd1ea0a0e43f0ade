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
  static_assert(detail::sink_takes<Sink, Data>,
                "sink: a result in device memory takes data in device memory");
  return detail::all_pairs(detail::measure::pearson, {detail::read_table(data)}, options, sink);
}

/// As above with the default options.
template <class Data, pearson_sink Sink>
sink_result_t<Sink> pearson_all_pairs(const Data& data, const Sink& sink) {
  return pearson_all_pairs(data, pearson_options{}, sink);
}

/// Pearson's r of every row of `x` with every row of `y`: as above, but the pairs are (i, j) with i
/// a row of x and j a row of y, also where both are the same table. No pair is left out as that of
/// a row with itself.
///
/// A dense result is [rows of x, rows of y]; an edge's `row` is of x and its `col` of y; top-k
/// gives for each row of x its best partners in y; counts have degrees of both. The family of tests
/// is the valid rows of x times those of y. The summary names constant and NaN rows of each.
///
/// @param x values [rows of x, cols] in host memory; together at most 2^32 - 1 rows.
/// @param y values [rows of y, cols] in host memory, as many columns; another element type is fine.
/// @param options as above.
/// @param sink as above.
/// @throw gpu::invalid_argument where the columns differ; else as above.
/// Cost: rows of x * rows of y * cols multiply-adds for the pairs.
template <table_like X, table_like Y, pearson_sink Sink = dense_sink>
requires detail::tables_together<X, Y> sink_result_t<Sink> pearson_all_pairs(
    const X& x, const Y& y, const pearson_options& options = {}, const Sink& sink = {}) {
  static_assert(detail::sink_takes<Sink, X>,
                "sink: a result in device memory takes data in device memory");
  return detail::all_pairs(detail::measure::pearson, {detail::read_table(x), detail::read_table(y)},
                           options, sink);
}

/// As above with the default options.
template <table_like X, table_like Y, pearson_sink Sink>
requires detail::tables_together<X, Y> sink_result_t<Sink> pearson_all_pairs(const X& x, const Y& y,
                                                                             const Sink& sink) {
  return pearson_all_pairs(x, y, pearson_options{}, sink);
}

/// An argument that is not a sink of this operation does not compile.
template <class Data, class Sink>
requires(!pearson_sink<Sink>) void pearson_all_pairs(const Data&, const pearson_options&,
                                                     const Sink&) {
  detail::refuse_sink<pearson_sink<Sink>, Sink>();
}

/// Neither does one that is not options, a sink or a table.
template <class Data, class Other>
requires(!pearson_sink<Other> &&
         !detail::is_table_or_options<Other>) void pearson_all_pairs(const Data&, const Other&) {
  detail::refuse_second<pearson_sink<Other>, Other>();
}

/// The same with two tables.
template <table_like X, table_like Y, class Sink>
requires(!pearson_sink<Sink>) void pearson_all_pairs(const X&, const Y&, const pearson_options&,
                                                     const Sink&) {
  detail::refuse_sink<pearson_sink<Sink>, Sink>();
}

/// What is neither options nor a sink behind two tables.
template <table_like X, table_like Y, class Other>
requires(!pearson_sink<Other> &&
         !detail::is_table_or_options<Other>) void pearson_all_pairs(const X&, const Y&,
                                                                     const Other&) {
  detail::refuse_second<pearson_sink<Other>, Other>();
}

/// Nor two tables in different memories.
template <table_like X, table_like Y, class... Rest>
requires(!detail::tables_together<X, Y>) void pearson_all_pairs(const X&, const Y&,
                                                                const Rest&...) {
  static_assert(detail::never<X>, "x, y: expected both in host memory, or both in device memory");
}

}  // namespace v0
}  // namespace gpu
