// Options of one operation are not taken by another.
// MESSAGE: argument_after_the_data_is_not_a_table_nor_pair_options_nor_a_sink
// LINES: 10
#include <gpu/all_pairs.hpp>
#include <gpu/rank.hpp>

auto use(gpu::matrix_view<const int> data) {
#ifdef MISUSE
  return gpu::spearman_all_pairs(data, gpu::rank_options{});
#else
  return gpu::spearman_all_pairs(data, gpu::pair_options{});
#endif
}
