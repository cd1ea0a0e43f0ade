// A third table is not options or a sink.
// MESSAGE: argument_after_the_tables_is_not_pair_options_nor_a_sink
// LINES: 10
#include <gpu/all_pairs.hpp>

auto use(gpu::matrix_view<const float> data) {
#ifdef MISUSE
  return gpu::pearson_all_pairs(data, data, data);
#else
  return gpu::pearson_all_pairs(data, data, gpu::edge_sink{});
#endif
}
