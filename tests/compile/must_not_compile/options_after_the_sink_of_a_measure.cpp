// Options come before the sink, with the measure as a value too.
// MESSAGE: pair_options_come_before_the_sink
// LINES: 10
#include <gpu/all_pairs.hpp>

auto use(gpu::matrix_view<const float> data, const gpu::pair_options& options) {
#ifdef MISUSE
  return gpu::all_pairs(gpu::measure::cosine, data, data, gpu::edge_sink{}, options);
#else
  return gpu::all_pairs(gpu::measure::cosine, data, data, options, gpu::edge_sink{});
#endif
}
