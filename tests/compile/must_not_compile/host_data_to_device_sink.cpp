// A result in device memory is that of data in device memory.
// MESSAGE: sink_in_device_memory_needs_data_in_device_memory
// LINES: 10
#include <gpu/all_pairs.hpp>

void use(gpu::matrix_view<const float> host, gpu::device_matrix_view<const float> device,
         gpu::device_matrix_view<double> out) {
#ifdef MISUSE
  static_cast<void>(device);
  gpu::spearman_all_pairs(host, gpu::device_dense_sink{.out = out});
#else
  static_cast<void>(host);
  gpu::spearman_all_pairs(device, gpu::device_dense_sink{.out = out});
#endif
}
