// Positions are 64 bits wide on the device too.
// MESSAGE: no matching function for call to .*top_k
#include <cstdint>

#include <gpu/top_k.hpp>

void use(gpu::device_matrix_view<const float> data, gpu::device_matrix_view<float> values,
         gpu::device_matrix_view<gpu::index_t> indices,
         gpu::device_matrix_view<std::int32_t> narrow) {
#ifdef MISUSE
  static_cast<void>(indices);
  gpu::top_k(data, 3, values, narrow);
#else
  static_cast<void>(narrow);
  gpu::top_k(data, 3, values, indices);
#endif
}
