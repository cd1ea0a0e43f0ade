#pragma once
// Results of all pairs as Parquet: the columns that the text has, names as strings, statistics as
// doubles.

#include <cstddef>
#include <memory>
#include <span>

#include <gpu/matrix.hpp>
#include <gpu/pair_sinks.hpp>

#include "io/write/edges/edge_writer.hpp"
#include "io/write/output_file.hpp"
#include "io/write/result_context.hpp"

namespace gpu::io {

/// Edges of a row group.
inline constexpr std::size_t parquet_group_edges = std::size_t{1} << 20;

/// name_i, name_j, the statistic, t and p where the measure has a test, n where pairs have
/// their observations, and lower and upper where they have intervals. A row group is written
/// in the background while the next fills: memory for two.
[[nodiscard]] std::unique_ptr<edge_writer> make_parquet_edge_writer(output_file& out,
                                                                    const result_context& context);
/// The same with a last column q.
void write_parquet_adjusted_edges(output_file& out, std::span<const edge> edges,
                                  std::span<const double> q, const result_context& context);
/// name_i, rank from 1 (uint32), name_j, then as edges; q last where the result has it.
void write_parquet_neighbors(output_file& out, const neighbor_table& result,
                             const result_context& context);
/// name and degree (uint32); of x against y, table before them.
void write_parquet_counts(output_file& out, const pair_counts& result,
                          const result_context& context);
/// name, then a column for each name.
void write_parquet_dense(output_file& out, const matrix<double>& result,
                         const result_context& context);
/// The same of observations (uint32).
void write_parquet_observations(output_file& out, const matrix<node_id>& result,
                                const result_context& context);

}  // namespace gpu::io
