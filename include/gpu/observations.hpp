#pragma once
/// @file
/// With missing values (nan_policy::pairwise) every pair of rows has its own number of
/// observations: the columns in which neither row holds a NaN.

#include <span>
#include <vector>

#include <gpu/detail/any_view.hpp>
#include <gpu/execution.hpp>
#include <gpu/export.hpp>
#include <gpu/matrix.hpp>
#include <gpu/matrix_input.hpp>
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

}  // namespace v0
}  // namespace gpu
