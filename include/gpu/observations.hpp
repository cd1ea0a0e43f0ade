#pragma once
/// @file
/// What the test of a pair of rows needs to know of the table. With missing values
/// (nan_policy::pairwise) every pair has its own number of observations: the columns in which
/// neither row holds a NaN. Kendall's p depends on the ties of both rows.

#include <span>
#include <vector>

#include <gpu/detail/any_view.hpp>
#include <gpu/execution.hpp>
#include <gpu/export.hpp>
#include <gpu/matrix.hpp>
#include <gpu/matrix_input.hpp>
#include <gpu/p_value.hpp>
#include <gpu/pair_options.hpp>
#include <gpu/pair_sinks.hpp>

namespace gpu {
inline namespace v0 {

namespace detail {
GPU_SIMILARITY_EXPORT matrix<node_id> shared_observations(const pair_tables& tables,
                                                          const execution& exec);
GPU_SIMILARITY_EXPORT std::vector<node_id> shared_observations(const pair_tables& tables,
                                                               std::span<const edge> edges,
                                                               const execution& exec);
}  // namespace detail

/// The observations of every pair of rows.
///
/// @param data values [rows, cols] in host memory, of any element type; a NaN is a missing value.
/// @param exec cpu_threads and on_progress; this runs on the CPU and refuses every other setting.
/// @return [rows, rows]: element (i, j) is the number of columns that rows i and j share.
/// Cost: rows^2 * cols / 64 operations on bits. Memory: the result, and a bit for each value.
/// @throw gpu::unsupported for data in device memory; gpu::out_of_memory; gpu::cancelled.
template <table_like Data>
[[nodiscard]] matrix<node_id> shared_observations(const Data& data, const execution& exec = {}) {
  return detail::shared_observations({detail::read_table(data)}, exec);
}

/// The observations of every pair of a row of `x` and a row of `y`, which have as many columns.
/// @return [rows of x, rows of y].
/// @throw gpu::invalid_argument where the columns differ; else as above.
template <table_like X, table_like Y>
  requires detail::tables_together<X, Y>
[[nodiscard]] matrix<node_id> shared_observations(const X& x, const Y& y,
                                                  const execution& exec = {}) {
  return detail::shared_observations({detail::read_table(x), detail::read_table(y)}, exec);
}

/// The observations of some pairs of rows of `data`: element e is of edges[e].
/// @throw gpu::invalid_argument for a row that the table does not have; else as above.
template <table_like Data>
[[nodiscard]] std::vector<node_id> shared_observations(const Data& data,
                                                       std::span<const edge> edges,
                                                       const execution& exec = {}) {
  return detail::shared_observations({detail::read_table(data)}, edges, exec);
}

/// The same of pairs of a row of `x` and a row of `y`.
template <table_like X, table_like Y>
  requires detail::tables_together<X, Y>
[[nodiscard]] std::vector<node_id> shared_observations(const X& x, const Y& y,
                                                       std::span<const edge> edges,
                                                       const execution& exec = {}) {
  return detail::shared_observations({detail::read_table(x), detail::read_table(y)}, edges, exec);
}

namespace detail {
GPU_SIMILARITY_EXPORT std::vector<row_ties> kendall_ties(const any_table& data,
                                                         const execution& exec);
GPU_SIMILARITY_EXPORT std::vector<double> shared_kendall_p(const pair_tables& tables,
                                                           std::span<const edge> edges, tail side,
                                                           const execution& exec);
}  // namespace detail

/// The ties of each row of `data`, as kendall_p_value takes them.
/// @param data values [rows, cols] of any element type. What was put on the null stream for data in
///   device memory is waited for.
/// @param exec cpu_threads and on_progress of data in host memory; every other setting is refused.
/// @return [rows]; zeros of a row with a NaN.
/// @throw gpu::unsupported for more than 2,048 columns in device memory; gpu::out_of_memory;
///   gpu::cancelled.
template <table_like Data>
[[nodiscard]] std::vector<row_ties> kendall_ties(const Data& data, const execution& exec = {}) {
  return detail::kendall_ties(detail::read_table(data), exec);
}

/// p of pairs of rows with missing values, as all pairs with nan_policy::pairwise gives it: by the
/// columns that both rows have, and by the ties of both in these. Edges have it already, best
/// partners do not.
/// @param data values [rows, cols] in host memory, of any element type; a NaN is a missing value.
/// @param edges pairs of rows, and tau-b of each over the columns that they share.
/// @param side the alternative.
/// @param exec cpu_threads and on_progress; this runs on the CPU and refuses every other setting.
/// @return [edges]: p; NaN where tau is, and of a pair that shares fewer than 3 columns.
/// Cost: the values of each row are sorted once; then some nanoseconds an edge for each 64 columns,
/// or each group of ties.
/// @throw gpu::invalid_argument for a row that the table does not have; gpu::unsupported for data
///   in device memory; gpu::out_of_memory; gpu::cancelled.
template <table_like Data>
[[nodiscard]] std::vector<double> shared_kendall_p(const Data& data, std::span<const edge> edges,
                                                   tail side = tail::two_sided,
                                                   const execution& exec = {}) {
  return detail::shared_kendall_p({detail::read_table(data)}, edges, side, exec);
}

/// The same of pairs of a row of `x` and a row of `y`.
/// @param x, y values [rows, cols] of as many columns, as above.
/// @param edges pairs, whose col is a row of y.
/// @param side the alternative.
/// @param exec as above.
template <table_like X, table_like Y>
  requires detail::tables_together<X, Y>
[[nodiscard]] std::vector<double> shared_kendall_p(const X& x, const Y& y,
                                                   std::span<const edge> edges,
                                                   tail side = tail::two_sided,
                                                   const execution& exec = {}) {
  return detail::shared_kendall_p({detail::read_table(x), detail::read_table(y)}, edges, side,
                                  exec);
}

}  // namespace v0
}  // namespace gpu
