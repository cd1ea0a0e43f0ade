// A plan is made for a table too.
// MESSAGE: data_is_not_a_table__pass_gpu_as_matrix_of_a_range
// LINES: 10
#include <vector>

#include <gpu/plan.hpp>

auto use(const std::vector<float>& data) {
#ifdef MISUSE
  return gpu::plan_all_pairs(gpu::measure::bicor, data);
#else
  return gpu::plan_all_pairs(gpu::measure::bicor, gpu::as_matrix(data, 2, 5));
#endif
}
