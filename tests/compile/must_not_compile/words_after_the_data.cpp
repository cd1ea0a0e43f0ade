// A name is not a table, options or a sink.
// MESSAGE: argument_after_the_data_is_not_a_table_nor_pair_options_nor_a_sink
// LINES: 10
#include <gpu/all_pairs.hpp>

auto use(gpu::matrix_view<const float> data) {
#ifdef MISUSE
  return gpu::pearson_all_pairs(data, "edges");
#else
  return gpu::pearson_all_pairs(data, gpu::edge_sink{});
#endif
}
