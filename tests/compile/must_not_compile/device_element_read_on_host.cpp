// Elements of device memory cannot be read by the host.
#include <gpu/matrix_view.hpp>

float use(gpu::matrix_view<const float> host, gpu::device_matrix_view<const float> device) {
#ifdef MISUSE
  static_cast<void>(host);
  return device(0, 0);
#else
  static_cast<void>(device);
  return host(0, 0);
#endif
}
