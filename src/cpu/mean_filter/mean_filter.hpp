#pragma once
// Moving mean and convolution on the CPU.

#include <cstddef>
#include <span>

#include <gpu/matrix_view.hpp>
#include <gpu/mean_filter.hpp>

#include "plan/mean_filter_variants.hpp"

namespace gpu::cpu {

/// Filters each row; `variant` is `direct` or `block_sums`. Parallel over rows and parts of rows.
/// Throws gpu::out_of_memory where exec.workspace_bytes does not suffice.
template <class In, class Out>
void mean_filter(matrix_view<const In> in, matrix_view<Out> out, const detail::filter_shape& shape,
                 mean_filter_variant variant, nan_policy nans, const execution& exec);

template <class In, class Out>
void convolve(matrix_view<const In> in, std::span<const double> weights, matrix_view<Out> out,
              const detail::filter_shape& shape, const execution& exec);

/// How block_sums shares out the rows.
struct mean_filter_split {
  index_t strip_outputs = 0;  ///< Outputs of a strip.
  index_t strips_per_row = 0;
  int threads = 1;
  std::size_t workspace_bytes = 0;  ///< Of all threads together.
};
mean_filter_split split_mean_filter(const detail::filter_shape& shape, nan_policy nans,
                                    const execution& exec);

}  // namespace gpu::cpu
