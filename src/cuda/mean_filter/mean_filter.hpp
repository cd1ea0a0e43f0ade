#pragma once
// Moving mean and convolution on CUDA: copies for host views, launches for device views.

#include <cstddef>
#include <span>

#include <gpu/matrix_view.hpp>
#include <gpu/mean_filter.hpp>

#include "plan/mean_filter_variants.hpp"

namespace gpu::cuda {

/// Means where `weights` is empty, else the convolution with them. Host views: copies to the device
/// and back in pieces; blocks until the result is complete.
template <class In, class Out>
void filter(matrix_view<const In> in, std::span<const double> weights, matrix_view<Out> out,
            const detail::filter_shape& shape, mean_filter_variant variant, nan_policy nans,
            const execution& exec);

/// Device views: asynchronous on exec.stream.
template <class In, class Out>
void filter(device_matrix_view<const In> in, std::span<const double> weights,
            device_matrix_view<Out> out, const detail::filter_shape& shape,
            mean_filter_variant variant, nan_policy nans, device_workspace workspace,
            const execution& exec);

/// Outputs of a block, and scratch memory, for a variant.
struct mean_filter_tile {
  index_t outputs = 0;
  std::size_t workspace_bytes = 0;
};
mean_filter_tile plan_mean_filter_tile(const detail::filter_shape& shape, std::size_t element_bytes,
                                       mean_filter_variant variant);

/// What is compiled for each type, with CUDA and without it.
#define GPU_SIMILARITY_INSTANTIATE_MEAN_FILTER(In, Out)                                           \
  template void filter(matrix_view<const In>, std::span<const double>, matrix_view<Out>,          \
                       const detail::filter_shape&, mean_filter_variant, nan_policy,              \
                       const execution&);                                                         \
  template void filter(device_matrix_view<const In>, std::span<const double>,                     \
                       device_matrix_view<Out>, const detail::filter_shape&, mean_filter_variant, \
                       nan_policy, device_workspace, const execution&);

}  // namespace gpu::cuda
