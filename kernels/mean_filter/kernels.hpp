#pragma once
// Host-callable launches of the mean filter and convolution kernels. Asynchronous on `stream`.

#include <cuda_runtime_api.h>

#include <cstddef>
#include <span>

#include <gpu/matrix_view.hpp>
#include <gpu/mean_filter.hpp>

#include "plan/mean_filter_variants.hpp"

namespace gpu::kernels {

/// Scratch memory that launch_mean_filter needs (multi_level alone needs any), in bytes.
std::size_t mean_filter_workspace_bytes(const detail::filter_shape& shape,
                                        mean_filter_variant variant);

/// Outputs that one block computes.
index_t mean_filter_tile_outputs(std::size_t element_bytes, mean_filter_variant variant);

/// Filters each row with `variant`, which must be offered for the window. `workspace` is device
/// memory of mean_filter_workspace_bytes bytes.
template <class In, class Out>
void launch_mean_filter(device_matrix_view<const In> in, device_matrix_view<Out> out,
                        const detail::filter_shape& shape, mean_filter_variant variant,
                        nan_policy nans, void* workspace, cudaStream_t stream);

/// Correlates each row with `weights`, already flipped (host memory, read before the call
/// returns). `device_weights` is device memory for as many doubles, used by `direct` alone.
template <class In, class Out>
void launch_correlate(device_matrix_view<const In> in, device_matrix_view<Out> out,
                      const detail::filter_shape& shape, std::span<const double> weights,
                      mean_filter_variant variant, double* device_weights, cudaStream_t stream);

}  // namespace gpu::kernels
