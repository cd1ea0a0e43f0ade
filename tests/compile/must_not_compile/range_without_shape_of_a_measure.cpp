// A range has no rows and columns until it is told them, with the measure as a value too.
// MESSAGE: data_is_not_a_table__pass_gpu_as_matrix_of_a_range
// LINES: 10
#include <vector>

#include <gpu/all_pairs.hpp>

auto use(const std::vector<float>& data) {
#ifdef MISUSE
  return gpu::all_pairs(gpu::measure::bicor, data, {}, gpu::edge_sink{});
#else
  return gpu::all_pairs(gpu::measure::bicor, gpu::as_matrix(data, 2, 5), {}, gpu::edge_sink{});
#endif
}
