// A window is a member of the options, not an argument.
// MESSAGE: no matching function for call to .*mean_filter_options
#include <vector>

#include <gpu/mean_filter.hpp>

void use(const std::vector<float>& in) {
#ifdef MISUSE
  gpu::mean_filter(in, 5);
#else
  static_cast<void>(gpu::mean_filter(in, {.window = 5}));
#endif
}
