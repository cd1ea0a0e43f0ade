// Covariates and weights of columns, on CUDA: the rows are computed on the host, block by block.
#include "columns/run_column_cases.hpp"
#include "support/device_memory.hpp"
#include "support/device_table.hpp"

namespace {

using gpu_test::pair_target;

constexpr pair_target cpu{.where = gpu::backend::cpu, .variant = gpu::pair_variant::tiled};
constexpr pair_target naive{.where = gpu::backend::cuda, .variant = gpu::pair_variant::naive};
constexpr pair_target shared{.where = gpu::backend::cuda,
                             .variant = gpu::pair_variant::shared_tiled};
constexpr pair_target tensor{.where = gpu::backend::cuda, .variant = gpu::pair_variant::tensor};
constexpr pair_target best{.where = gpu::backend::cuda};

}  // namespace

TEST_CASE("Covariates and weights, CUDA automatic", "[columns]") {
  gpu_test::run_column_cases(best);
}

TEST_CASE("Covariates and weights, CUDA tensor", "[columns]") {
  gpu_test::run_column_cases(tensor);
}

TEST_CASE("Covariates and weights, CUDA shared_tiled", "[columns]") {
  gpu_test::run_column_cases(shared);
}

TEST_CASE("Covariates and weights, CUDA naive", "[columns]") {
  gpu_test::run_column_cases(naive);
}

TEST_CASE("Covariates and weights on CUDA agree with the CPU bit for bit", "[columns]") {
  for (const pair_target& target : {best, tensor, shared, naive}) {
    gpu_test::columns_say_what_another_backend_says(cpu, target, 400);
  }
  for (const pair_target& target : {best, tensor}) {
    gpu_test::columns_say_what_another_backend_says(cpu, target, 5000);
  }
}

TEST_CASE("Covariates and weights of tables in device memory are refused", "[columns]") {
  const auto data = gpu_test::random_matrix<float>(40, 20, 1);
  const gpu_test::device_table<float> there(data, 3);
  const gpu::device_matrix_view<const float> view = there.view();
  const auto z = gpu_test::random_matrix<double>(2, 20, 2);
  gpu::pair_options options = best.options();
  options.covariates = z.view();
  GPU_TEST_SAYS(gpu_test::message_of<gpu::unsupported>(
                    [&] { gpu::pearson_all_pairs(view, options, gpu::edge_sink{}); }),
                "data: got a table in device memory");
  GPU_TEST_SAYS(gpu_test::message_of<gpu::unsupported>([&] {
                  static_cast<void>(gpu::prepare_rows(gpu::measure::pearson, view, options));
                }),
                "data: got a table in device memory");
  const gpu_test::device_array<double> out(std::size_t{1600});
  GPU_TEST_SAYS(gpu_test::message_of<gpu::unsupported>([&] {
                  gpu::pearson_all_pairs(view, options,
                                         gpu::device_dense_sink{.out = {out.data(), 40, 40}});
                }),
                "options.covariates: is not offered with results in device memory");
}
