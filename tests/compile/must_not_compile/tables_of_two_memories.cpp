// Two tables of one call are both in host memory or both in device memory.
// MESSAGE: no matching function for call to
#include <gpu/spearman.hpp>

auto use(gpu::matrix_view<const float> host, gpu::device_matrix_view<const float> device) {
#ifdef MISUSE
  static_cast<void>(host);
  return gpu::spearman_all_pairs(host, device);
#else
  static_cast<void>(host);
  return gpu::spearman_all_pairs(device, device);
#endif
}
