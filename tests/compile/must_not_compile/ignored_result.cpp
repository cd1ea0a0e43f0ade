// Throwing a result away is a warning, and with warnings as errors it does not compile.
#include <gpu/rank.hpp>

void use(gpu::matrix_view<const int> data) {
#ifdef MISUSE
  gpu::rank_rows(data);
#else
  static_cast<void>(gpu::rank_rows(data));
#endif
}
