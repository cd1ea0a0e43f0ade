#include "cuda/top_k/top_k.hpp"

#include "base/element_types.hpp"
#include "cuda_absent/absent.hpp"

namespace gpu::cuda {

std::size_t top_k_shared_bytes(const execution&) {
  throw_not_built();
}

template <class T>
std::size_t top_k_workspace(index_t, index_t, index_t, bool, const top_k_options&) {
  throw_not_built();
}
template <class T>
void top_k(matrix_view<const T>, index_t, T*, index_t*, index_t*, index_t*, const top_k_options&) {
  throw_not_built();
}
template <class T>
void top_k(device_matrix_view<const T>, index_t, device_matrix_view<T>, device_matrix_view<index_t>,
           device_matrix_view<index_t>, index_t*, const top_k_options&) {
  throw_not_built();
}

GPU_SIMILARITY_FOR_EACH_ELEMENT_TYPE(GPU_SIMILARITY_INSTANTIATE_TOP_K)

}  // namespace gpu::cuda
