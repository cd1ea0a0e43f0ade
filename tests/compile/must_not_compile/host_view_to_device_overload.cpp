// A host matrix must not reach the overload that works on device memory.
// MESSAGE: no matching function for call to .*rank_rows
#include <gpu/rank.hpp>

void use(gpu::matrix_view<const float> host, gpu::device_matrix_view<const float> device,
         gpu::device_matrix_view<double> ranks) {
#ifdef MISUSE
  gpu::rank_rows(host, ranks);
#else
  static_cast<void>(host);
  gpu::rank_rows(device, ranks);
#endif
}
