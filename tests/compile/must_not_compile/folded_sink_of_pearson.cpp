// Edges between patterns of rows are Spearman's alone.
// MESSAGE: folded_sinks_are_for_spearman_only
// LINES: 10
#include <gpu/all_pairs.hpp>

auto use(gpu::matrix_view<const double> data) {
#ifdef MISUSE
  return gpu::pearson_all_pairs(data, gpu::folded_edge_sink{});
#else
  return gpu::spearman_all_pairs(data, gpu::folded_edge_sink{});
#endif
}
