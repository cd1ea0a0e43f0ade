#pragma once
// What functions of soft-threshold networks check before any work: each throws
// gpu::invalid_argument.

#include <vector>

#include <gpu/connectivity.hpp>

namespace gpu::validate {

/// Powers in their range, and a kind of network.
void check_sink(const connectivity_sink& sink);
/// As many powers as columns, connectivities that are NaN or at least 0, options in their ranges.
void check_connectivity(matrix_view<const double> connectivity, const std::vector<double>& powers,
                        const scale_free_options& options);
/// A square matrix of statistics, options in their ranges.
void check_overlap(matrix_view<const double> statistics, const overlap_options& options);

}  // namespace gpu::validate
