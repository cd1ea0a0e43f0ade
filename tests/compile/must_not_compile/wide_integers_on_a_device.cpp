// Wide integers are taken in host memory alone.
// MESSAGE: data: its elements have a type that is not taken, expected int8_t
#include <gpu/all_pairs.hpp>

auto use(gpu::matrix_view<const std::int64_t> host,
         gpu::device_matrix_view<const std::int64_t> device) {
#ifdef MISUSE
  static_cast<void>(host);
  return gpu::spearman_all_pairs(device);
#else
  static_cast<void>(device);
  return gpu::spearman_all_pairs(host);
#endif
}
