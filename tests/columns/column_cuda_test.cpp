// Covariates and weights of columns, on CUDA: the rows are computed on the host, block by block.
#include "columns/run_column_cases.hpp"
#include "support/measure_cuda_cases.hpp"

using gpu_test::cuda_best;
using gpu_test::cuda_naive;
using gpu_test::cuda_shared;
using gpu_test::cuda_tensor;

TEST_CASE("Covariates and weights, CUDA automatic", "[columns]") {
  gpu_test::run_column_cases(cuda_best);
}

TEST_CASE("Covariates and weights, CUDA tensor", "[columns]") {
  gpu_test::run_column_cases(cuda_tensor());
}

TEST_CASE("Covariates and weights, CUDA shared_tiled", "[columns]") {
  gpu_test::run_column_cases(cuda_shared);
}

TEST_CASE("Covariates and weights, CUDA naive", "[columns]") {
  gpu_test::run_column_cases(cuda_naive);
}

TEST_CASE("Covariates and weights of tables in device memory are refused", "[columns]") {
  const auto data = gpu_test::random_matrix<float>(40, 20, 1);
  const gpu_test::device_table<float> there(data, 3);
  const gpu::device_matrix_view<const float> view = there.view();
  const auto z = gpu_test::random_matrix<double>(2, 20, 2);
  gpu::pair_options options = cuda_best.options();
  options.covariates = z.view();
  GPU_TEST_SAYS(gpu_test::message_of<gpu::unsupported>(
                    [&] { gpu::pearson_all_pairs(view, options, gpu::edge_sink{}); }),
                "options.covariates: not offered with a table in device memory");
  GPU_TEST_SAYS(gpu_test::message_of<gpu::unsupported>([&] {
                  static_cast<void>(gpu::prepare_rows(gpu::measure::pearson, view, options));
                }),
                "options.covariates: not offered with a table in device memory");
  const gpu_test::device_array<double> out(std::size_t{1600});
  GPU_TEST_SAYS(gpu_test::message_of<gpu::unsupported>([&] {
                  gpu::pearson_all_pairs(view, options,
                                         gpu::device_dense_sink{.out = {out.data(), 40, 40}});
                }),
                "options.covariates: not offered with results in device memory");
}
