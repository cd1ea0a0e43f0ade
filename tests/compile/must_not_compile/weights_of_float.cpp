// The weights of a convolution are doubles.
// MESSAGE: weights: expected a contiguous range of double
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
