// Tables in device memory stand row by row.
// MESSAGE: use of deleted function
#include <gpu/all_pairs.hpp>

auto use(gpu::matrix_view<const float> host, gpu::device_matrix_view<const float> device) {
#ifdef MISUSE
  static_cast<void>(host);
  return gpu::spearman_all_pairs(gpu::transposed(device));
#else
  static_cast<void>(device);
  return gpu::spearman_all_pairs(gpu::transposed(host));
#endif
}
