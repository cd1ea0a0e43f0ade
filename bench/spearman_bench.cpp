// Spearman of all pairs by sink, rung and columns, the CPU beside CUDA in one table.
#include <gpu/spearman.hpp>

#include "pair_cases.hpp"

namespace {

// Counts with ties, up to nine of ten zero.
std::vector<std::int32_t> tied_counts(std::int64_t rows, std::int64_t cols) {
  return gpu_bench::count_rows<std::int32_t>(rows, cols, 0.0, 0.9, 10);
}

const auto compute = [](const auto& data, const gpu::pair_options& options, const auto& sink) {
  return gpu::spearman_all_pairs(data, options, sink);
};

const bool registered = [] {
  struct shape {
    std::int64_t cols, cpu_rows, cuda_rows;
  };
  for (const shape& s :
       {shape{30, 60'000, 1'000'000}, shape{128, 12'625, 200'000}, shape{1000, 4'000, 50'000}}) {
    for (const gpu_bench::pair_rung& rung : gpu_bench::pair_rungs) {
      gpu_bench::register_pairs<std::int32_t>("spearman", rung,
                                              gpu_bench::rows_for(rung, s.cpu_rows, s.cuda_rows),
                                              s.cols, tied_counts, compute);
    }
  }
  return true;
}();

}  // namespace
