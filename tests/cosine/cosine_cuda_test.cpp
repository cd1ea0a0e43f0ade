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
