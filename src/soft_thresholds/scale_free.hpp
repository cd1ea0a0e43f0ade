#pragma once
// How well connectivities fit a scale-free network.

#include <vector>

#include <gpu/connectivity.hpp>

namespace gpu::soft_thresholds {

/// What gpu::scale_free_fit gives for arguments that are checked.
scale_free_fits fit_columns(matrix_view<const double> connectivity,
                            const std::vector<double>& powers, const scale_free_options& options);

}  // namespace gpu::soft_thresholds
