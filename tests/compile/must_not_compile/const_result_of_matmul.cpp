// A product is written into a matrix that can be written.
// MESSAGE: no matching function for call to .*output_matrix
#include <gpu/matmul.hpp>

void use(const gpu::matrix<float>& a, const gpu::matrix<float>& fixed, gpu::matrix<float>& c) {
#ifdef MISUSE
  static_cast<void>(c);
  gpu::matmul(a, a, fixed);
#else
  static_cast<void>(fixed);
  gpu::matmul(a, a, c);
#endif
}
