// Two tables of one call are both in host memory or both in device memory.
// MESSAGE: x_and_y_are_not_both_in_host_memory_or_both_in_device_memory
// LINES: 10
#include <gpu/all_pairs.hpp>

auto use(gpu::matrix_view<const float> host, gpu::device_matrix_view<const float> device) {
#ifdef MISUSE
  static_cast<void>(host);
  return gpu::spearman_all_pairs(host, device);
#else
  static_cast<void>(host);
  return gpu::spearman_all_pairs(device, device);
#endif
}
