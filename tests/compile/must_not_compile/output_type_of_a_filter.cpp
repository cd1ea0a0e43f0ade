// Means are written in the input's type or as doubles, never rounded to another one.
// MESSAGE: out: expected elements of the input
#include <vector>

#include <gpu/mean_filter.hpp>

void use(const std::vector<double>& in, std::vector<double>& means, std::vector<float>& rounded) {
#ifdef MISUSE
  static_cast<void>(means);
  gpu::mean_filter(in, rounded);
#else
  static_cast<void>(rounded);
  gpu::mean_filter(in, means);
#endif
}
