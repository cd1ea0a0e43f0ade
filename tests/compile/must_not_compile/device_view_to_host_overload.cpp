// All pairs of device memory are not offered through the host call.
// MESSAGE: data: expected a matrix in host memory
#include <gpu/spearman.hpp>

auto use(gpu::matrix_view<const float> host, gpu::device_matrix_view<const float> device) {
#ifdef MISUSE
  static_cast<void>(host);
  return gpu::spearman_all_pairs(device);
#else
  static_cast<void>(device);
  return gpu::spearman_all_pairs(host);
#endif
}
