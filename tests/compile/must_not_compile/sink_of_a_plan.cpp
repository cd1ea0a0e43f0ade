// A plan is asked for a sink or a filter.
// MESSAGE: argument_after_the_options_is_not_a_sink
// LINES: 10
#include <gpu/plan.hpp>

auto use(gpu::matrix_view<const float> data) {
#ifdef MISUSE
  return gpu::plan_all_pairs(gpu::measure::bicor, data, {}, gpu::edge_order{});
#else
  return gpu::plan_all_pairs(gpu::measure::bicor, data, {}, gpu::pair_filter{});
#endif
}
