// A call has one sink.
// MESSAGE: nothing_comes_after_the_sink
// LINES: 10
#include <gpu/all_pairs.hpp>

auto use(gpu::matrix_view<const float> data) {
#ifdef MISUSE
  return gpu::pearson_all_pairs(data, gpu::edge_sink{}, gpu::count_sink{});
#else
  return gpu::pearson_all_pairs(data, gpu::edge_sink{});
#endif
}
