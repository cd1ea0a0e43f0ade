// A matrix is not copied by accident.
#include <gpu/matrix.hpp>

gpu::matrix<double> use(const gpu::matrix<double>& large) {
#ifdef MISUSE
  return large;
#else
  return large.clone();
#endif
}
