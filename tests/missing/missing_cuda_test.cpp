#include "missing/missing_cases.hpp"

// The oracle of the CPU; soak_cuda compares both on drawn tables.
TEST_CASE("Missing values on CUDA equal the oracle", "[missing][cuda]") {
  constexpr gpu_test::pair_target device{.where = gpu::backend::cuda};
  const std::vector<std::pair<gpu::index_t, gpu::index_t>> shapes{
      {2, 3}, {9, 5}, {40, 30}, {33, 100}, {21, 257}};
  gpu_test::run_missing_cases(device, gpu_test::missing_spearman, shapes);
  gpu_test::run_missing_cases(device, gpu_test::missing_pearson, shapes);
  gpu_test::run_missing_cases(device, gpu_test::missing_cosine, {{40, 30}, {33, 100}});
  gpu_test::run_missing_cases(device, gpu_test::missing_spearman, {{4, 4200}});
}
