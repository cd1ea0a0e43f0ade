// On the device too, operands and result have one element type.
// MESSAGE: matmul: expected operands and a result of float, or all of double
#include <gpu/matmul.hpp>

void use(gpu::device_matrix_view<const float> a, gpu::device_matrix_view<double> wide,
         gpu::device_matrix_view<float> c) {
#ifdef MISUSE
  static_cast<void>(c);
  gpu::matmul(a, a, wide);
#else
  static_cast<void>(wide);
  gpu::matmul(a, a, c);
#endif
}
