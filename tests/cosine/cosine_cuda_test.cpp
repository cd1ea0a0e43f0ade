#include "cosine/cosine_cases.hpp"
#include "support/measure_cuda_cases.hpp"

using gpu_test::pair_target;

TEST_CASE("Cosine, CUDA automatic", "[cosine]") {
  gpu_test::run_cosine_cases(gpu_test::cuda_best);
}

TEST_CASE("Cosine, CUDA tensor", "[cosine]") {
  gpu_test::run_cosine_cases(gpu_test::cuda_tensor());
}

TEST_CASE("Cosine, CUDA shared_tiled", "[cosine]") {
  gpu_test::run_cosine_cases(gpu_test::cuda_shared);
}

TEST_CASE("Cosine, CUDA naive", "[cosine]") {
  gpu_test::run_cosine_cases(gpu_test::cuda_naive);
}

TEST_CASE("Cosine on CUDA agrees with the CPU bit for bit", "[cosine]") {
  using namespace gpu_test;
  for (const pair_target& target : {cuda_best, cuda_tensor(), cuda_shared, cuda_naive}) {
    cosine_edges_equal_those_of(cpu_tiled, target, 700);
  }
  for (const pair_target& target : {cuda_best, cuda_tensor()}) {
    cosine_edges_equal_those_of(cpu_tiled, target, 5000);
  }
}

TEST_CASE("Cosine of tables in device memory", "[cosine]") {
  gpu_test::measure_of_device_tables(gpu::measure::cosine, gpu_test::mixed_rows(400, 45, 21),
                                     {.min_abs = 0.3});
}

TEST_CASE("Cosine of rows that do not fit the device's budget is the CPU's", "[cosine]") {
  gpu_test::measure_of_staged_rows(gpu::measure::cosine, gpu_test::mixed_rows(1178, 130, 8),
                                   {.min_abs = 0.8}, gpu_test::cosine_measure::same_dense);
}
