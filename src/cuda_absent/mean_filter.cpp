#include "cuda/mean_filter/mean_filter.hpp"

#include "base/element_types.hpp"
#include "cuda_absent/absent.hpp"

namespace gpu::cuda {

mean_filter_tile plan_mean_filter_tile(const detail::filter_shape&, std::size_t,
                                       mean_filter_variant) {
  throw_not_built();
}

template <class In, class Out>
void filter(matrix_view<const In>, std::span<const double>, matrix_view<Out>,
            const detail::filter_shape&, mean_filter_variant, nan_policy, const execution&) {
  throw_not_built();
}

template <class In, class Out>
void filter(device_matrix_view<const In>, std::span<const double>, device_matrix_view<Out>,
            const detail::filter_shape&, mean_filter_variant, nan_policy, device_workspace,
            const execution&) {
  throw_not_built();
}

GPU_SIMILARITY_FOR_EACH_FILTER_TYPES(GPU_SIMILARITY_INSTANTIATE_MEAN_FILTER)

}  // namespace gpu::cuda
