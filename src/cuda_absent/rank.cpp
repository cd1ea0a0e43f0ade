#include "cuda/rank/rank.hpp"

#include "base/element_types.hpp"
#include "cuda_absent/absent.hpp"

namespace gpu::cuda {

template <class T>
std::size_t rank_workspace(index_t, index_t, const rank_options&) {
  throw_not_built();
}

template <class T>
void rank_rows(matrix_view<const T>, matrix_view<double>, const rank_options&) {
  throw_not_built();
}

template <class T>
void rank_rows(device_matrix_view<const T>, device_matrix_view<double>, const rank_options&) {
  throw_not_built();
}

#define GPU_SIMILARITY_INSTANTIATE(T)                                                         \
  template std::size_t rank_workspace<T>(index_t, index_t, const rank_options&);              \
  template void rank_rows<T>(matrix_view<const T>, matrix_view<double>, const rank_options&); \
  template void rank_rows<T>(device_matrix_view<const T>, device_matrix_view<double>,         \
                             const rank_options&);

GPU_SIMILARITY_FOR_EACH_ELEMENT_TYPE(GPU_SIMILARITY_INSTANTIATE)
#undef GPU_SIMILARITY_INSTANTIATE

}  // namespace gpu::cuda
