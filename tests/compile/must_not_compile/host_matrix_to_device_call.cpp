// An asynchronous call on device memory takes no host matrix, temporary or not: it might be gone by
// then.
// MESSAGE: no matching function for call to .*filter_output
#include <gpu/mean_filter.hpp>

void use(gpu::matrix<float>& host, gpu::device_matrix_view<const float> from,
         gpu::device_matrix_view<float> to) {
#ifdef MISUSE
  static_cast<void>(from);
  gpu::mean_filter(gpu::matrix<float>(2, 3), to);
  gpu::mean_filter(host, to);
#else
  static_cast<void>(host);
  gpu::mean_filter(from, to);
#endif
}
