// Edges between patterns of rows are Spearman's alone.
// MESSAGE: no matching function for call to
#include <gpu/pearson.hpp>
#include <gpu/spearman.hpp>

auto use(gpu::matrix_view<const double> data) {
#ifdef MISUSE
  return gpu::pearson_all_pairs(data, gpu::folded_edge_sink{});
#else
  return gpu::spearman_all_pairs(data, gpu::folded_edge_sink{});
#endif
}
