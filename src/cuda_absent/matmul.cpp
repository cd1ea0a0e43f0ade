#include "cuda/matmul/matmul.hpp"

#include "cuda_absent/absent.hpp"

namespace gpu::cuda {

detail::matmul_device describe_matmul_device(const execution&) {
  throw_not_built();
}

template <class T>
void matmul(matrix_view<const T>, matrix_view<const T>, matrix_view<T>, const matmul_options&) {
  throw_not_built();
}

template <class T>
void matmul(device_matrix_view<const T>, device_matrix_view<const T>, device_matrix_view<T>,
            const matmul_options&, const detail::matmul_choice&) {
  throw_not_built();
}

template void matmul(matrix_view<const float>, matrix_view<const float>, matrix_view<float>,
                     const matmul_options&);
template void matmul(matrix_view<const double>, matrix_view<const double>, matrix_view<double>,
                     const matmul_options&);
template void matmul(device_matrix_view<const float>, device_matrix_view<const float>,
                     device_matrix_view<float>, const matmul_options&,
                     const detail::matmul_choice&);
template void matmul(device_matrix_view<const double>, device_matrix_view<const double>,
                     device_matrix_view<double>, const matmul_options&,
                     const detail::matmul_choice&);

}  // namespace gpu::cuda
