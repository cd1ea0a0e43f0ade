#pragma once
// Moving mean and convolution on CUDA: copies for host views, launches for device views.

#include <cstddef>
#include <span>

#include <gpu/matrix_view.hpp>
#include <gpu/mean_filter.hpp>

#include "base/cuda_function.hpp"
#include "plan/mean_filter_variants.hpp"

namespace gpu::cuda {

/// Means where `weights` is empty, else the convolution with them. Host views: copies to the device
/// and back in pieces; blocks until the result is complete.
template <class In, class Out>
void filter(matrix_view<const In> in, std::span<const double> weights, matrix_view<Out> out,
            const detail::filter_shape& shape, mean_filter_variant variant, nan_policy nans,
            const execution& exec) GPU_SIMILARITY_OR_THROW;

/// Device views: asynchronous on exec.stream.
template <class In, class Out>
void filter(device_matrix_view<const In> in, std::span<const double> weights,
            device_matrix_view<Out> out, const detail::filter_shape& shape,
            mean_filter_variant variant, nan_policy nans, device_workspace workspace,
            const execution& exec) GPU_SIMILARITY_OR_THROW;

/// Outputs of a block of a variant.
GPU_SIMILARITY_CUDA_FUNCTION index_t
filter_tile(std::size_t element_bytes, mean_filter_variant variant) GPU_SIMILARITY_OR_THROW;

/// Scratch memory of a variant in bytes; of means where there are no weights.
GPU_SIMILARITY_CUDA_FUNCTION std::size_t filter_workspace(
    const detail::filter_shape& shape, index_t weights,
    mean_filter_variant variant) GPU_SIMILARITY_OR_THROW;

}  // namespace gpu::cuda
