#pragma once
/// @file
/// A measure of all pairs of rows: of one table, of x against y, or of x against prepared rows.

#include <gpu/detail/all_pairs.hpp>
#include <gpu/matrix_input.hpp>
#include <gpu/measure.hpp>
#include <gpu/pair_options.hpp>
#include <gpu/pair_sinks.hpp>

namespace gpu {
inline namespace v0 {

/// The statistic of every pair of rows of `data`; `sink` says what to keep.
///
/// The pages of the measures (gpu/spearman.hpp, gpu/pearson.hpp, ...) say how each statistic is
/// defined and how exactly it is decided. Rows in device memory, a gpu::device_matrix_view, are
/// taken with every sink. With the sinks here the call waits for `options.exec.stream` and blocks
/// until the host has the result; nothing of the input is copied to the host. With those of
/// device_sinks.hpp the result stays on the device and the call returns before it is done.
///
/// @param what the measure; gpu::info_of says its limits.
/// @param data values [rows, cols] in host memory: a gpu::matrix_view, gpu::matrix, std::mdspan, or
///   gpu::as_matrix of a range; or column by column: a gpu::column_matrix_view, gpu::transposed of
///   any of these. In host memory also int64, uint32 and uint64. Rows are variables, columns are
///   observations; rows up to 2^32 - 1, cols as the measure takes them.
/// @param options NaN policy, covariates, weights of columns, variant, folding, backend, devices,
///   workspace, progress.
/// @param sink dense_sink (default), dense_sink_f32, edge_sink, top_k_sink, count_sink,
///   stream_sink; connectivity_sink for one table; folded_edge_sink and folded_stream_sink where
///   the measure folds equal rows; for data in device memory also device_dense_sink,
///   device_dense_sink_f32, device_top_k_sink, device_count_sink, device_edge_sink.
/// @return what the sink gives: see pair_sinks.hpp.
/// @throw gpu::invalid_argument for a value that is not a measure, for too few or too many columns
/// or
///   a cut outside its range, before any work starts; so for a 64-bit integer beyond 2^53 where the
///   measure needs the values, naming row, column and value; for a NaN, naming row and column,
///   before any pair is computed (CUDA finds it while it prepares the rows). gpu::unsupported for a
///   cut on p of a measure without a significance test, and for folding where the measure does not
///   fold. gpu::capacity_exceeded where an edge_sink's max_edges does not suffice, with the number
///   needed. gpu::backend_unavailable, gpu::out_of_memory, gpu::cancelled, gpu::cuda_error.
/// Cost: the preparation of each row, and rows^2 / 2 * cols multiply-adds for the pairs.
/// Memory: the packed rows, tiles, and what the sink keeps; never [rows, rows] except for a dense
/// sink. Data in column order or of wide integers also needs a panel of rows, 8 MiB or eight rows;
/// the data is never in memory twice. Blocks until the result is complete.
template <table_like Data, pair_sink Sink = dense_sink>
sink_result_t<Sink> all_pairs(measure what, const Data& data, const pair_options& options = {},
                              const Sink& sink = {}) {
  detail::check_sink_takes<Sink, Data>();
  return detail::all_pairs(what, {detail::read_table(data)}, options, sink);
}

/// As above with the default options.
template <table_like Data, pair_sink Sink>
sink_result_t<Sink> all_pairs(measure what, const Data& data, const Sink& sink) {
  return gpu::all_pairs(what, data, pair_options{}, sink);
}

/// The statistic of every row of `x` with every row of `y`: as above, but the pairs are (i, j) with
/// i a row of x and j a row of y, also where both are the same table. No pair is left out as that
/// of a row with itself.
///
/// A dense result is [rows of x, rows of y]; an edge's `row` is of x and its `col` of y; top-k
/// gives for each row of x its best partners in y; counts have degrees of both. The family of tests
/// is the valid rows of x times those of y. The summary names constant and NaN rows of each.
///
/// @param what the measure.
/// @param x values [rows of x, cols]; together at most 2^32 - 1 rows.
/// @param y values [rows of y, cols] in the memory that x is in, as many columns; another element
///   type and another layout are fine.
/// @param options as above.
/// @param sink as above.
/// @return as above.
/// @throw gpu::invalid_argument where the columns differ; else as above.
/// Cost: rows of x * rows of y * cols multiply-adds for the pairs.
template <table_like X, table_like Y, pair_sink Sink = dense_sink>
  requires detail::tables_together<X, Y>
sink_result_t<Sink> all_pairs(measure what, const X& x, const Y& y,
                              const pair_options& options = {}, const Sink& sink = {}) {
  detail::check_sink_takes<Sink, X>();
  return detail::all_pairs(what, {detail::read_table(x), detail::read_table(y)}, options, sink);
}

/// As above with the default options.
template <table_like X, table_like Y, pair_sink Sink>
  requires detail::tables_together<X, Y>
sink_result_t<Sink> all_pairs(measure what, const X& x, const Y& y, const Sink& sink) {
  return gpu::all_pairs(what, x, y, pair_options{}, sink);
}

}  // namespace v0
}  // namespace gpu
