// Means on the device are of the input's type, or doubles.
// MESSAGE: out: expected elements of the input
#include <cstdint>

#include <gpu/mean_filter.hpp>

void use(gpu::device_vector_view<const float> in, gpu::device_vector_view<std::int32_t> whole,
         gpu::device_vector_view<double> means) {
#ifdef MISUSE
  static_cast<void>(means);
  gpu::mean_filter(in, whole);
#else
  static_cast<void>(whole);
  gpu::mean_filter(in, means);
#endif
}
