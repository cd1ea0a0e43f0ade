// A filter is not a sink, with two tables either.
// MESSAGE: argument_after_the_options_is_not_a_sink
// LINES: 10
#include <gpu/all_pairs.hpp>

auto use(gpu::matrix_view<const float> x, gpu::matrix_view<const int> y) {
  const gpu::pair_filter keep{.max_p = 0.01};
#ifdef MISUSE
  return gpu::spearman_all_pairs(x, y, {}, keep);
#else
  return gpu::spearman_all_pairs(x, y, {}, gpu::edge_sink{.keep = keep});
#endif
}
