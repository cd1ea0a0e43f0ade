// Options come before the sink of a plan too.
// MESSAGE: pair_options_come_before_the_sink
// LINES: 10
#include <gpu/plan.hpp>

auto use(gpu::matrix_view<const float> data, const gpu::pair_options& options) {
#ifdef MISUSE
  return gpu::plan_all_pairs(gpu::measure::cosine, data, gpu::edge_sink{}, options);
#else
  return gpu::plan_all_pairs(gpu::measure::cosine, data, options, gpu::edge_sink{});
#endif
}
