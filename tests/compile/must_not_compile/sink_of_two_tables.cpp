// A filter is not a sink, with two tables either.
// MESSAGE: sink: expected dense_sink, edge_sink, top_k_sink, count_sink, stream_sink
#include <gpu/spearman.hpp>

auto use(gpu::matrix_view<const float> x, gpu::matrix_view<const int> y) {
  const gpu::pair_filter keep{.max_p = 0.01};
#ifdef MISUSE
  return gpu::spearman_all_pairs(x, y, {}, keep);
#else
  return gpu::spearman_all_pairs(x, y, {}, gpu::edge_sink{.keep = keep});
#endif
}
