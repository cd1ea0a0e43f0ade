#pragma once
// Networks from connectivities: the rows without one, scale-free fits, topological overlap.

#include <vector>

#include <gpu/connectivity.hpp>
#include <gpu/matrix.hpp>
#include <gpu/matrix_view.hpp>

#include "base/index_range.hpp"
#include "pairs/engine.hpp"

namespace gpu::soft_thresholds {

/// The adjacencies [rows, rows] of statistics, which are read above the diagonal alone; zeros on
/// the diagonal.
matrix<double> adjacencies(matrix_view<const double> statistics, const overlap_options& options);

/// Turns the product of the adjacencies with themselves into the overlaps of `statistics`.
void finish_overlap(matrix_view<const double> statistics, const matrix<double>& adjacency,
                    matrix<double>& product);

/// Writes NaN to the rows of `connectivity`, which are those of `panel`, that have no statistic.
void mark_rows(const detail::row_info& rows, detail::index_range panel,
               matrix<double>& connectivity);

/// What gpu::scale_free_fit gives for arguments that are checked.
scale_free_fits fit_columns(matrix_view<const double> connectivity,
                            const std::vector<double>& powers, const scale_free_options& options);

}  // namespace gpu::soft_thresholds
