// What is written is kept: the output of a call is no temporary that owns its elements.
#include <gpu/matmul.hpp>

void use(gpu::matrix_view<const float> a, gpu::matrix<float>& c) {
#ifdef MISUSE
  gpu::matmul(a, a, gpu::matrix<float>(2, 2));
#else
  gpu::matmul(a, a, c);
#endif
}
