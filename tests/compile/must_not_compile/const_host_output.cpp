// Products cannot be written into a constant matrix.
#include <utility>

#include <gpu/matmul.hpp>

void use(gpu::matrix_view<const float> a, gpu::matrix<float>& c) {
#ifdef MISUSE
  gpu::matmul(a, a, std::as_const(c));
#else
  gpu::matmul(a, a, c);
#endif
}
