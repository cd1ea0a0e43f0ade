#include <gpu/error.hpp>

#include "cuda/matmul/cublas.hpp"

namespace gpu::cuda {

bool has_cublas() {
  return false;
}

// The plan refuses the variant before it gets here.
template <class T>
void multiply_by_cublas(device_matrix_view<const T>, device_matrix_view<const T>,
                        device_matrix_view<T>, const matmul_options&, int, cudaStream_t) {
  throw unsupported("matmul_options.variant: cublas was not built in");
}

template void multiply_by_cublas(device_matrix_view<const float>, device_matrix_view<const float>,
                                 device_matrix_view<float>, const matmul_options&, int,
                                 cudaStream_t);
template void multiply_by_cublas(device_matrix_view<const double>, device_matrix_view<const double>,
                                 device_matrix_view<double>, const matmul_options&, int,
                                 cudaStream_t);

}  // namespace gpu::cuda
