#pragma once
// From a variant to its kernel, for one pair of types. Included by one small .cu per pair.

#include <algorithm>
#include <type_traits>

#include "kernels/mean_filter/kernels.hpp"
#include "kernels/mean_filter/ladder.cuh"
#include "kernels/mean_filter/multi_level.cuh"
#include "kernels/mean_filter/short_rows.cuh"

namespace gpu::kernels {

template <class Sum, class Exact, class In, class Out>
void launch_mean_filter_variant(const filter_args<In, Out>& args, mean_filter_variant variant,
                                void* workspace, cudaStream_t stream) {
  switch (variant) {
    case mean_filter_variant::constant_memory: {
      constant_weights ones;
      std::fill(std::begin(ones.value), std::end(ones.value), 1.0);
      return launch_direct<Sum>(args, ones, stream);
    }
    case mean_filter_variant::shared_memory:
      return launch_shared_tile<Sum>(args, no_weights{}, stream);
    case mean_filter_variant::block_sums:
      return are_short_rows(args.shape) ? launch_short_rows<Sum>(args, stream)
                                        : launch_block_sums<Sum>(args, stream);
    case mean_filter_variant::multi_level:
      return launch_multi_level<Exact>(args, workspace, stream);
    default:
      if (args.shape.window > detail::max_exact_window) {
        return launch_direct<Exact>(args, no_weights{}, stream);
      }
      return launch_direct<Sum>(args, no_weights{}, stream);
  }
}

template <class In, class Out>
void launch_mean_filter(device_matrix_view<const In> in, device_matrix_view<Out> out,
                        const detail::filter_shape& shape, mean_filter_variant variant,
                        nan_policy nans, void* workspace, cudaStream_t stream) {
  // float to double obeys the bound of doubles.
  constexpr bool is_exact = std::is_floating_point_v<In> && std::is_same_v<Out, double>;
  using sum = std::conditional_t<is_exact, exact_sum, plain_sum>;
  const filter_args<In, Out> args(in, out, shape);
  if constexpr (std::is_floating_point_v<In>) {
    if (nans == nan_policy::omit) {
      return launch_mean_filter_variant<counted_sum<sum>, counted_sum<exact_sum>>(
          args, variant, workspace, stream);
    }
  }
  launch_mean_filter_variant<sum, exact_sum>(args, variant, workspace, stream);
}

/// Kernel parameters are copied with the launch, so a graph keeps the weights by value.
static __global__ void store_weights_kernel(const __grid_constant__ constant_weights weights,
                                            int count, double* to) {
  if (static_cast<int>(threadIdx.x) < count) to[threadIdx.x] = weights.value[threadIdx.x];
}

template <class In, class Out>
void launch_correlate(device_matrix_view<const In> in, device_matrix_view<Out> out,
                      const detail::filter_shape& shape, std::span<const double> weights,
                      mean_filter_variant variant, double* device_weights, cudaStream_t stream) {
  const filter_args<In, Out> args(in, out, shape);
  constant_weights constant{};
  std::copy(weights.begin(), weights.end(), constant.value);
  switch (variant) {
    case mean_filter_variant::constant_memory:
      return launch_direct<plain_sum>(args, constant, stream);
    case mean_filter_variant::shared_memory:
      return launch_shared_tile<plain_sum>(args, constant, stream);
    case mean_filter_variant::block_sums:
      return launch_short_windows<plain_sum, detail::max_block_sums_weights>(args, constant,
                                                                             stream);
    default:
      store_weights_kernel<<<1, max_convolve_weights, 0, stream>>>(
          constant, static_cast<int>(weights.size()), device_weights);
      GPU_SIMILARITY_CHECK_LAUNCH();
      return launch_direct<plain_sum>(args, global_weights{device_weights}, stream);
  }
}

#define GPU_SIMILARITY_INSTANTIATE_MEAN_FILTER(In, Out)                                          \
  template void launch_mean_filter(device_matrix_view<const In>, device_matrix_view<Out>,        \
                                   const detail::filter_shape&, mean_filter_variant, nan_policy, \
                                   void*, cudaStream_t);                                         \
  template void launch_correlate(device_matrix_view<const In>, device_matrix_view<Out>,          \
                                 const detail::filter_shape&, std::span<const double>,           \
                                 mean_filter_variant, double*, cudaStream_t);

}  // namespace gpu::kernels
