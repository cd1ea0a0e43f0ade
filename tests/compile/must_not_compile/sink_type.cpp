// A filter is no sink: what to do with the pairs that pass it has to be said.
// MESSAGE: argument_after_the_options_is_not_a_sink
// LINES: 10
#include <gpu/all_pairs.hpp>

auto use(gpu::matrix_view<const double> data) {
  const gpu::pair_filter keep{.max_p = 0.01};
#ifdef MISUSE
  return gpu::pearson_all_pairs(data, {}, keep);
#else
  return gpu::pearson_all_pairs(data, {}, gpu::edge_sink{.keep = keep});
#endif
}
