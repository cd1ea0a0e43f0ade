// Both operands of a product have one element type.
// MESSAGE: matmul: expected two operands of float, or two of double
#include <gpu/matmul.hpp>

auto use(const gpu::matrix<float>& a, const gpu::matrix<double>& b) {
#ifdef MISUSE
  return gpu::matmul(a, b);
#else
  static_cast<void>(b);
  return gpu::matmul(a, a);
#endif
}
