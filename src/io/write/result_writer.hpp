#pragma once
// Results of all pairs as text or .npy. What is said of TSV holds for
// CSV, with commas.

#include <memory>

#include <gpu/matrix.hpp>
#include <gpu/pair_sinks.hpp>

#include "io/output_form.hpp"
#include "io/write/edges/edge_pipeline.hpp"
#include "io/write/output_file.hpp"
#include "io/write/result_context.hpp"

namespace gpu::io {

/// TSV, and CSV with commas: a header line, then name_i, name_j, statistic, t, p; without t and p
/// where the measure has no significance test; then n where pairs have it, and lower and upper last
/// where they have intervals.
/// npy: a one-dimensional array of records (row u4, col u4, statistic f8, p f8, and n u4, and lower
/// f8, upper f8), rows counted from 0; p is NaN without a test.
/// @throw output_error where the format is npy and `out` cannot be rewritten: the number of
///   records stands in front of them.
[[nodiscard]] std::unique_ptr<edge_writer> make_edge_writer(result_format format, output_file& out,
                                                            const result_context& context);

/// TSV: name_i, rank from 1, name_j, then as of edges, and q where the result has it.
/// npy: the records of edges, best first, with q those of adjusted_edges.hpp.
void write_neighbors(result_format format, output_file& out, const neighbor_table& result,
                     const result_context& context);

/// TSV: name, degree. npy: the degrees [rows], u4. Of x against y, the rows of x come first and
/// those of y behind them, in TSV after a column `table` that says x or y.
void write_counts(result_format format, output_file& out, const pair_counts& result,
                  const result_context& context);

/// TSV: a header line of names, then each row behind its name. npy: [rows, columns], f8.
void write_dense(result_format format, output_file& out, const matrix<double>& result,
                 const result_context& context);

/// The same of the observations of pairs. npy: u4.
void write_observations(result_format format, output_file& out, const matrix<node_id>& result,
                        const result_context& context);

}  // namespace gpu::io
