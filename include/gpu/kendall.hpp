#pragma once
/// @file
/// Kendall's tau-b of all pairs of rows, with p-values.

#include <span>
#include <vector>

#include <gpu/all_pairs.hpp>
#include <gpu/detail/any_view.hpp>
#include <gpu/execution.hpp>
#include <gpu/export.hpp>
#include <gpu/matrix_input.hpp>
#include <gpu/p_value.hpp>
#include <gpu/pair_options.hpp>
#include <gpu/pair_sinks.hpp>
#include <gpu/prepared_rows.hpp>

namespace gpu {
inline namespace v0 {
namespace detail {
GPU_SIMILARITY_EXPORT std::vector<row_ties> kendall_ties(const any_table& data,
                                                         const execution& exec);
GPU_SIMILARITY_EXPORT std::vector<row_ties> kendall_ties(const prepared_table& data,
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

/// The same of rows that were prepared on the CPU for measure::kendall or measure::spearman.
/// @throw gpu::invalid_argument where they were prepared for another measure.
[[nodiscard]] inline std::vector<row_ties> kendall_ties(const prepared_rows& data,
                                                        const execution& exec = {}) {
  return detail::kendall_ties(*data.table(), exec);
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
