#include "bicor/bicor_cases.hpp"
#include "support/measure_cuda_cases.hpp"

using gpu_test::pair_target;

TEST_CASE("Bicor, CUDA automatic", "[bicor]") {
  gpu_test::run_bicor_cases(gpu_test::cuda_best);
}

TEST_CASE("Bicor, CUDA tensor", "[bicor]") {
  gpu_test::run_bicor_cases(gpu_test::cuda_tensor());
}

TEST_CASE("Bicor, CUDA shared_tiled", "[bicor]") {
  gpu_test::run_bicor_cases(gpu_test::cuda_shared);
}

TEST_CASE("Bicor, CUDA naive", "[bicor]") {
  gpu_test::run_bicor_cases(gpu_test::cuda_naive);
}

TEST_CASE("Bicor on CUDA agrees with the CPU bit for bit", "[bicor]") {
  using namespace gpu_test;
  for (const pair_target& target : {cuda_best, cuda_tensor(), cuda_shared, cuda_naive}) {
    bicor_edges_equal_those_of(cpu_tiled, target, 700);
  }
  for (const pair_target& target : {cuda_best, cuda_tensor()}) {
    bicor_edges_equal_those_of(cpu_tiled, target, 5000);
  }
}

TEST_CASE("Bicor of tables in device memory", "[bicor]") {
  gpu_test::measure_of_device_tables(gpu::measure::bicor, gpu_test::robust_rows<float>(400, 45, 21),
                                     {.max_p = 0.01});
}

TEST_CASE("Bicor of rows that do not fit the device's budget is the CPU's", "[bicor]") {
  gpu_test::measure_of_staged_rows(gpu::measure::bicor, gpu_test::robust_rows<float>(1178, 130, 8),
                                   {.max_p = 1e-4}, gpu_test::bicor_measure::same_dense);
}
