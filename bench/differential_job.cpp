// Times of differential correlation of two groups of columns: one line a measure and sink, from
// host to host, in milliseconds, the best of some calls. The rows of the first half of the table
// move together in the first group alone.
//
// differential_job ROWS COLS_OF_A_GROUP [cpu|cuda] [THREADS]
#include <cstdio>
#include <cstdlib>
#include <numeric>
#include <vector>

#include <gpu/differential.hpp>

#include "common/row_job.hpp"

namespace {

struct job {
  const gpu::matrix<float>& data;
  gpu::column_groups groups;
  gpu::pair_options options;

  template <class Sink>
  void time(const char* name, gpu::measure what, const Sink& sink) const {
    gpu::differential_summary summary;
    const double best = gpu_bench::best_of([&] {
      return summary = gpu::differential_pairs(what, data.view(), groups, options, sink).summary;
    });
    std::printf("%-10s %-24s %10.3f ms, %llu of %llu pairs kept, %s\n",
                gpu::info_of(what).name.data(), name, 1e3 * best,
                static_cast<unsigned long long>(summary.pairs_kept),
                static_cast<unsigned long long>(summary.pairs_tested), summary.device.c_str());
    std::fflush(stdout);
  }
};

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) return 2;
  const gpu::index_t rows = std::atoll(argv[1]);
  const gpu::index_t cols = std::atoll(argv[2]);
  if (rows < 2 || cols < 4) return 2;
  gpu::matrix<float> data = gpu_bench::normal_rows(rows, 2 * cols);
  for (gpu::index_t i = 1; i < rows / 2; ++i) {
    for (gpu::index_t k = 0; k < cols; ++k) data(i, k) += 0.5F * data(0, k);
  }
  std::vector<gpu::index_t> columns(static_cast<std::size_t>(2 * cols));
  std::iota(columns.begin(), columns.end(), 0);
  const std::span<const gpu::index_t> all(columns);
  const auto half = static_cast<std::size_t>(cols);
  const job of{.data = data,
               .groups = {all.first(half), all.last(half)},
               .options = gpu_bench::options_of(argc, argv, 3)};
  const auto bh = gpu::adjustment::benjamini_hochberg;
  for (const gpu::measure what : {gpu::measure::spearman, gpu::measure::pearson}) {
    of.time("edges, p <= 1e-6", what, gpu::differential_edge_sink{.keep = {.max_p = 1e-6}});
    of.time("edges, p <= 1e-3", what, gpu::differential_edge_sink{.keep = {.max_p = 1e-3}});
    of.time("counts, p <= 0.05", what, gpu::differential_count_sink{.keep = {.max_p = 0.05}});
    of.time("counts, bh 0.05", what,
            gpu::differential_count_sink{.keep = {.max_p = 0.05, .adjust = bh}});
    of.time("10 partners", what, gpu::differential_top_k_sink{.k = 10});
  }
}
