// Options come before the sink.
// MESSAGE: pair_options_come_before_the_sink
// LINES: 10
#include <gpu/all_pairs.hpp>

auto use(gpu::matrix_view<const float> data, const gpu::pair_options& options) {
#ifdef MISUSE
  return gpu::kendall_all_pairs(data, gpu::edge_sink{}, options);
#else
  return gpu::kendall_all_pairs(data, options, gpu::edge_sink{});
#endif
}
