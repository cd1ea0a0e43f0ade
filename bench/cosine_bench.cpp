// Cosine of all pairs by sink, variant and columns, the CPU beside CUDA in one table.
#include <gpu/cosine.hpp>

#include "pair_cases.hpp"

namespace {

std::vector<float> normal_values(std::int64_t rows, std::int64_t cols) {
  return gpu_bench::random_values<float>(rows * cols);
}

const auto compute = [](const auto& data, const gpu::pair_options& options, const auto& sink) {
  return gpu::cosine_all_pairs(data, options, sink);
};

const bool registered = [] {
  struct shape {
    std::int64_t cols, cpu_rows, cuda_rows;
  };
  for (const shape& s : {shape{30, 40'000, 500'000}, shape{128, 12'625, 200'000}}) {
    for (const gpu_bench::backend_variant& variant : gpu_bench::backend_variants) {
      gpu_bench::register_pairs<float>("cosine", variant,
                                       gpu_bench::rows_for(variant, s.cpu_rows, s.cuda_rows),
                                       s.cols, normal_values, compute);
    }
  }
  return true;
}();

}  // namespace
