// The weights of a convolution are doubles.
// MESSAGE: no matching function for call to .*convolve
#include <vector>

#include <gpu/mean_filter.hpp>

auto use(const std::vector<float>& in, const std::vector<double>& weights) {
#ifdef MISUSE
  static_cast<void>(weights);
  gpu::convolve(in, in);
#else
  return gpu::convolve(in, weights);
#endif
}
