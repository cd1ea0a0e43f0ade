// Spearman of all pairs by sink, variant and columns, the CPU beside CUDA in one table.
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
    for (const gpu_bench::backend_variant& variant : gpu_bench::backend_variants) {
      gpu_bench::register_pairs<std::int32_t>("spearman", variant,
                                              gpu_bench::rows_for(variant, s.cpu_rows, s.cuda_rows),
                                              s.cols, tied_counts, compute);
    }
  }
  // The best partners of dense counts, hardly two rows equal, and of sparse ones, very many equal.
  for (const bool dense : {true, false}) {
    const gpu_bench::backend_variant best{gpu::backend::cuda, gpu::pair_variant::automatic};
    const std::int64_t rows = 1'000'000;
    const std::int64_t cols = 30;
    const std::string name =
        "spearman/" + best.name() + "/top_10/" + (dense ? "dense" : "sparse") + "/1000000x30";
    benchmark::RegisterBenchmark(
        name.c_str(),
        [=](benchmark::State& state) {
          const auto values = dense
                                  ? gpu_bench::count_rows<std::int32_t>(rows, cols, 0.0, 0.5, 40)
                                  : gpu_bench::count_rows<std::int32_t>(rows, cols, 0.6, 0.98, 10);
          const gpu::matrix_view<const std::int32_t> data(values.data(), rows, cols);
          gpu_bench::time_pairs(
              state, rows, [&](const auto& sink) { return compute(data, best.options(), sink); },
              gpu::top_k_sink{.k = 10});
        })
        ->UseRealTime()
        ->Unit(benchmark::kMillisecond);
  }
  return true;
}();

}  // namespace
