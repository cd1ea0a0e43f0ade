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
