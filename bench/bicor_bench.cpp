// The biweight midcorrelation of all pairs by sink, variant and columns, the CPU beside CUDA in one
// table; and Pearson of the same rows, whose pairs cost the same.
#include <gpu/bicor.hpp>
#include <gpu/pearson.hpp>

#include "pair_cases.hpp"

namespace {

std::vector<float> normal_values(std::int64_t rows, std::int64_t cols) {
  return gpu_bench::random_values<float>(rows * cols);
}

const auto of_bicor = [](const auto& data, const gpu::pair_options& options, const auto& sink) {
  return gpu::bicor_all_pairs(data, options, sink);
};
const auto of_pearson = [](const auto& data, const gpu::pair_options& options, const auto& sink) {
  return gpu::pearson_all_pairs(data, options, sink);
};

const bool registered = [] {
  struct shape {
    std::int64_t cols, cpu_rows, cuda_rows;
  };
  for (const shape& s :
       {shape{30, 40'000, 500'000}, shape{128, 12'625, 200'000}, shape{20'000, 500, 2'000}}) {
    for (const gpu_bench::backend_variant& variant : gpu_bench::backend_variants) {
      if (s.cols > 1000 && variant.variant == gpu::pair_variant::naive) continue;
      const std::int64_t rows = gpu_bench::rows_for(variant, s.cpu_rows, s.cuda_rows);
      gpu_bench::register_pairs<float>("bicor", variant, rows, s.cols, normal_values, of_bicor);
      gpu_bench::register_pairs<float>("pearson", variant, rows, s.cols, normal_values, of_pearson);
    }
  }
  return true;
}();

}  // namespace
