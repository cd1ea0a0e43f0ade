// Operands and result of a product are all in host memory or all in device memory.
// MESSAGE: no matching function for call to .*output_matrix
#include <gpu/matmul.hpp>

void use(const gpu::matrix<float>& a, gpu::matrix<float>& c, gpu::device_matrix_view<float> far) {
#ifdef MISUSE
  static_cast<void>(c);
  gpu::matmul(a, a, far);
#else
  static_cast<void>(far);
  gpu::matmul(a, a, c);
#endif
}
