// Times of all pairs of rows with missing values: one line a measure and sink, from host to host,
// in milliseconds, the best of some calls; and beside them the same rows without missing values.
//
// missing_job ROWS COLS SHARE [cpu|cuda] [THREADS] [MASKS]: SHARE of the values are missing,
// scattered; with MASKS, row i has mask i mod MASKS.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <random>

#include <gpu/all_pairs.hpp>

#include "common/row_job.hpp"

namespace {

gpu::matrix<float> make_rows(gpu::index_t rows, gpu::index_t cols, double share,
                             gpu::index_t masks) {
  std::mt19937_64 random(1);
  std::normal_distribution<float> normal;
  std::uniform_real_distribution<double> uniform;
  gpu::matrix<float> out(rows, cols);
  for (gpu::index_t i = 0; i < rows; ++i) {
    std::mt19937_64 mask(static_cast<std::uint64_t>(masks > 0 ? i % masks : 0));
    for (gpu::index_t k = 0; k < cols; ++k) {
      const float value = normal(random);
      const bool is_missing = uniform(masks > 0 ? mask : random) < share;
      out(i, k) = is_missing ? std::numeric_limits<float>::quiet_NaN() : value;
    }
  }
  return out;
}

template <class Sink>
void time_sink(const char* name, gpu::measure what, const gpu::matrix<float>& data,
               const gpu::pair_options& options, const Sink& sink) {
  const gpu_bench::call_seconds best = gpu_bench::best_of_calls(what, data, options, sink);
  const double rows = static_cast<double>(data.rows());
  std::printf("%-10s %-12s %9.3f ms %9.3g pairs/s, the pairs alone %9.3f ms\n",
              gpu::info_of(what).name.data(), name, 1e3 * best.whole,
              rows * (rows - 1) / 2 / best.whole, 1e3 * best.pairs);
  std::fflush(stdout);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 4) return 2;
  const gpu::index_t rows = std::atoll(argv[1]);
  const gpu::index_t cols = std::atoll(argv[2]);
  const double share = std::atof(argv[3]);
  gpu::pair_options options = gpu_bench::options_of(argc, argv, 4);
  const gpu::index_t masks = argc > 6 ? std::atoll(argv[6]) : 0;
  options.nans = gpu::nan_policy::pairwise;
  for (const double missing : {share, 0.0}) {
    std::printf("%lld x %lld, %g missing\n", static_cast<long long>(rows),
                static_cast<long long>(cols), missing);
    const gpu::matrix<float> data = make_rows(rows, cols, missing, masks);
    for (const gpu::measure what : {gpu::measure::spearman, gpu::measure::pearson,
                                    gpu::measure::kendall, gpu::measure::bicor}) {
      time_sink("edges 1e-6", what, data, options, gpu::edge_sink{.keep = {.max_p = 1e-6}});
      time_sink("counts .05", what, data, options, gpu::count_sink{.keep = {.max_p = 0.05}});
      time_sink("top 10", what, data, options, gpu::top_k_sink{.k = 10});
    }
  }
}
