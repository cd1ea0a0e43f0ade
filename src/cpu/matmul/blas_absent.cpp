// For builds without OpenBLAS: the plan never picks it there, so no call gets here.
#include <gpu/error.hpp>

#include "cpu/matmul/matmul.hpp"

namespace gpu::cpu {

bool has_blas() {
  return false;
}

template <class T>
void matmul_blas(matrix_view<const T>, matrix_view<const T>, matrix_view<T>,
                 const matmul_options&) {
  throw unsupported("matmul_options.variant: blas was not built in (no OpenBLAS was found)");
}

template void matmul_blas(matrix_view<const float>, matrix_view<const float>, matrix_view<float>,
                          const matmul_options&);
template void matmul_blas(matrix_view<const double>, matrix_view<const double>, matrix_view<double>,
                          const matmul_options&);

}  // namespace gpu::cpu
