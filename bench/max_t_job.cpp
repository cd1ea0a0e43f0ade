// Times of the largest statistics under shuffled columns (max-T): one line a measure, from host to
// host, in seconds, one call behind one of two permutations.
//
// max_t_job ROWS COLS PERMUTATIONS [cpu|cuda] [THREADS]
#include <chrono>
#include <cstdio>
#include <cstdlib>

#include <gpu/max_t.hpp>

#include "common/row_job.hpp"

int main(int argc, char** argv) {
  if (argc < 4) return 2;
  const gpu::matrix<float> data = gpu_bench::normal_rows(std::atoll(argv[1]), std::atoll(argv[2]));
  const int permutations = std::atoi(argv[3]);
  const gpu::pair_options options = gpu_bench::options_of(argc, argv, 4);
  for (const gpu::measure what : {gpu::measure::spearman, gpu::measure::pearson}) {
    static_cast<void>(gpu::max_t(what, data.view(), options, {.permutations = 2}));
    const auto start = std::chrono::steady_clock::now();
    const gpu::max_t_null null =
        gpu::max_t(what, data.view(), options, {.permutations = permutations});
    const double seconds = gpu_bench::seconds_since(start);
    std::printf("%-10s %d permutations %9.3f s, cut at 0.05 %.17g\n",
                gpu::info_of(what).name.data(), permutations, seconds, null.cut(0.05));
    std::fflush(stdout);
  }
}
