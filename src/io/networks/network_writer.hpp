#pragma once
// Edges as a network for other programs: MatrixMarket, GraphML, SIF and ncol.

#include <cstdint>
#include <span>
#include <string>

#include "io/output_form.hpp"
#include "io/write/output_file.hpp"
#include "io/write/result_context.hpp"

namespace gpu::io {

/// The most edges of a network. Programs that draw or walk one hold it in memory, as text of a
/// hundred bytes an edge. A sparse matrix, MatrixMarket, may have any number.
inline constexpr index_t most_network_edges = 1'000'000;

/// Whether `format` has at most so many.
[[nodiscard]] constexpr bool is_bounded(result_format format) {
  return is_network(format) && format != result_format::matrix_market;
}

/// Writes all edges of a result.
///
/// - matrix_market: a sparse real matrix of the statistic, [rows, rows] and symmetric, its lower
///   triangle stored; of x against y [rows of x, rows of y] and general. No names.
/// - graphml: the rows that have an edge as nodes with their name, their number from 0 and, of x
///   against y, their table; edges with the statistic, p where the measure has one, n where
///   pairs have their observations, lower and upper where they have intervals, and q where it is
///   given.
/// - sif: name, relation, name. The relation is the sign of the statistic: positive, negative or
///   zero.
/// - ncol: name, name, statistic. Where every name is a number, rows from 0 stand in place of the
///   names, those of y behind those of x: igraph may take numbers for such.
///
/// @param q of each edge, or empty
/// @param context with the names as they were read, without quotes
/// @throw what output_file::write throws
void write_network(result_format format, output_file& out, std::span<const edge> edges,
                   std::span<const double> q, const result_context& context);

/// What keeps the names of the rows from standing in `format`, as "got the name 'a' of row 3 and of
/// row 7, expected each once"; "" where nothing does. sif and ncol know nodes by their names alone:
/// two rows of one name would become one node.
[[nodiscard]] std::string unfit_names(result_format format, const result_context& context);

/// Whether ncol has numbers of rows in place of the names, because these are numbers.
[[nodiscard]] bool are_numbered(const result_context& context);

/// Bytes of one edge, for estimates.
[[nodiscard]] double network_edge_bytes(result_format format, double names_bytes);

}  // namespace gpu::io
