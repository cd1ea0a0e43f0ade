#pragma once
/// @file
/// Spearman's rank correlation of all pairs of rows, with p-values.

#include <gpu/detail/all_pairs.hpp>
#include <gpu/matrix_input.hpp>
#include <gpu/pair_options.hpp>
#include <gpu/pair_sinks.hpp>

namespace gpu {
inline namespace v0 {

/// Spearman's rho of every pair of rows of `data`; `sink` says what to keep.
///
/// Exact: with average ranks r, u = 2 r - (cols + 1) is an integer, and rho is *defined* as the
/// IEEE double S_xy / sqrt(S_xx * S_yy) of the exact integer sums of products, one rounding each.
/// Every keep-or-drop decision equals that of comparing this rho with the cut, on every backend,
/// variant and device. p is Student's t with cols - 2 degrees of freedom:
/// t = rho sqrt((cols - 2) / ((1 + rho) (1 - rho))), as scipy.stats.spearmanr.
///
/// Data in device memory, a gpu::device_matrix_view, is taken with every sink. With the sinks here
/// the call waits for `options.exec.stream` and blocks until the host has the result; nothing of
/// the input is copied to the host. With those of device_sinks.hpp the result stays on the device
/// and the call returns before it is done.
///
/// @param data values [rows, cols] in host memory: a gpu::matrix_view, gpu::matrix, std::mdspan, or
///   gpu::as_matrix of a range. Rows are variables, columns are observations; rows up to 2^32 - 1,
///   cols from 3 to 3,000,000.
/// @param options NaN policy, variant, folding, backend, devices, workspace, progress.
/// @param sink dense_sink (default), dense_sink_f32, edge_sink, top_k_sink, count_sink,
/// stream_sink,
///   folded_edge_sink or folded_stream_sink; for data in device memory also device_dense_sink,
///   device_dense_sink_f32, device_top_k_sink, device_count_sink, device_edge_sink.
/// @return what the sink gives: see pair_sinks.hpp.
/// @throw gpu::invalid_argument for fewer than 3 columns or a cut outside its range, before any
/// work
///   starts; gpu::invalid_argument for a NaN, naming row and column, before any pair is computed
///   (CUDA finds it while it ranks the rows); gpu::capacity_exceeded where an edge_sink's max_edges
///   does not suffice, with the number needed; gpu::backend_unavailable, gpu::unsupported,
///   gpu::out_of_memory, gpu::cancelled, gpu::cuda_error.
/// Cost: rows * cols * log(cols) for the ranks, rows^2 / 2 * cols multiply-adds for the pairs; with
/// rows of equal ranks folded (options.fold), patterns^2 / 2 * cols.
/// Memory: the packed ranks, tiles, and what the sink keeps; never [rows, rows] but for a dense
/// sink. Blocks until the result is complete.
template <class Data, pair_sink Sink = dense_sink>
sink_result_t<Sink> spearman_all_pairs(const Data& data, const spearman_options& options = {},
                                       const Sink& sink = {}) {
  static_assert(detail::sink_takes<Sink, Data>,
                "sink: a result in device memory takes data in device memory");
  return detail::all_pairs(detail::measure::spearman, {detail::read_table(data)}, options, sink);
}

/// As above with the default options.
template <class Data, pair_sink Sink>
sink_result_t<Sink> spearman_all_pairs(const Data& data, const Sink& sink) {
  return spearman_all_pairs(data, spearman_options{}, sink);
}

/// Spearman's rho of every row of `x` with every row of `y`: as above, but the pairs are (i, j)
/// with i a row of x and j a row of y, also where both are the same table. No pair is left out as
/// that of a row with itself.
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
template <table_like X, table_like Y, pair_sink Sink = dense_sink>
requires detail::tables_together<X, Y> sink_result_t<Sink> spearman_all_pairs(
    const X& x, const Y& y, const spearman_options& options = {}, const Sink& sink = {}) {
  static_assert(detail::sink_takes<Sink, X>,
                "sink: a result in device memory takes data in device memory");
  return detail::all_pairs(detail::measure::spearman,
                           {detail::read_table(x), detail::read_table(y)}, options, sink);
}

/// As above with the default options.
template <table_like X, table_like Y, pair_sink Sink>
requires detail::tables_together<X, Y> sink_result_t<Sink> spearman_all_pairs(const X& x,
                                                                              const Y& y,
                                                                              const Sink& sink) {
  return spearman_all_pairs(x, y, spearman_options{}, sink);
}

/// An argument that is not a sink of this operation does not compile.
template <class Data, class Sink>
requires(!pair_sink<Sink>) void spearman_all_pairs(const Data&, const spearman_options&,
                                                   const Sink&) {
  detail::refuse_sink<pair_sink<Sink>, Sink>();
}

/// Neither does one that is not options, a sink or a table.
template <class Data, class Other>
requires(!pair_sink<Other> &&
         !detail::is_table_or_options<Other>) void spearman_all_pairs(const Data&, const Other&) {
  detail::refuse_second<pair_sink<Other>, Other>();
}

/// The same with two tables.
template <table_like X, table_like Y, class Sink>
requires(!pair_sink<Sink>) void spearman_all_pairs(const X&, const Y&, const spearman_options&,
                                                   const Sink&) {
  detail::refuse_sink<pair_sink<Sink>, Sink>();
}

/// What is neither options nor a sink behind two tables.
template <table_like X, table_like Y, class Other>
requires(!pair_sink<Other> &&
         !detail::is_table_or_options<Other>) void spearman_all_pairs(const X&, const Y&,
                                                                      const Other&) {
  detail::refuse_second<pair_sink<Other>, Other>();
}

/// Nor two tables in different memories.
template <table_like X, table_like Y, class... Rest>
requires(!detail::tables_together<X, Y>) void spearman_all_pairs(const X&, const Y&,
                                                                 const Rest&...) {
  static_assert(detail::never<X>, "x, y: expected both in host memory, or both in device memory");
}

}  // namespace v0
}  // namespace gpu
