#pragma once
// Edges as a sparse matrix in MatrixMarket's format.

#include <span>

#include "io/write/output_file.hpp"
#include "io/write/result_context.hpp"

namespace gpu::io {

/// Writes the statistics of all edges of a result: a real matrix [rows, rows], symmetric, with its
/// lower triangle stored; of x against y [rows of x, rows of y] and general. It has no names.
/// @throw what output_file::write throws
void write_matrix_market(output_file& out, std::span<const edge> edges,
                         const result_context& context);

/// Bytes of one edge, for estimates.
inline constexpr double matrix_market_edge_bytes = 34;

}  // namespace gpu::io
