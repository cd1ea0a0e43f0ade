// A range has no rows and columns until it is told them.
// MESSAGE: data_is_not_a_table__pass_gpu_as_matrix_of_a_range
// LINES: 10
#include <vector>

#include <gpu/all_pairs.hpp>

auto use(const std::vector<double>& data) {
#ifdef MISUSE
  return gpu::spearman_all_pairs(data);
#else
  return gpu::spearman_all_pairs(gpu::as_matrix(data, 10, 10));
#endif
}
