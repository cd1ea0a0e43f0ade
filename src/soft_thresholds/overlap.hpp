#pragma once
// The steps of topological overlap around the product of the adjacencies.

#include <gpu/connectivity.hpp>
#include <gpu/matrix.hpp>
#include <gpu/matrix_view.hpp>

namespace gpu::soft_thresholds {

/// The adjacencies [rows, rows] of statistics of which what is above the diagonal is read; zeros on
/// the diagonal.
matrix<double> adjacencies(matrix_view<const double> statistics, const overlap_options& options);

/// Turns the product of the adjacencies with themselves into the overlaps of `statistics`.
void finish_overlap(matrix_view<const double> statistics, const matrix<double>& adjacency,
                    matrix<double>& product);

}  // namespace gpu::soft_thresholds
