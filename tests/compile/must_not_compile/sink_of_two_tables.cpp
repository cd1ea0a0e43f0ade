// A filter is not a sink, with two tables either.
// MESSAGE: no matching function for call to
#include <gpu/spearman.hpp>

auto use(gpu::matrix_view<const float> x, gpu::matrix_view<const int> y) {
  const gpu::pair_filter keep{.max_p = 0.01};
#ifdef MISUSE
  return gpu::spearman_all_pairs(x, y, {}, keep);
#else
  return gpu::spearman_all_pairs(x, y, {}, gpu::edge_sink{.keep = keep});
#endif
}
