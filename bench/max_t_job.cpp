// Times of the largest statistics under shuffled columns (max-T): one line a measure, from host to
// host, in seconds, one call behind one of two permutations.
//
// max_t_job ROWS COLS PERMUTATIONS [cpu|cuda] [THREADS]
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <string_view>

#include <gpu/max_t.hpp>

namespace {

gpu::matrix<float> make_rows(gpu::index_t rows, gpu::index_t cols) {
  std::mt19937_64 random(1);
  std::normal_distribution<float> normal;
  gpu::matrix<float> out(rows, cols);
  for (gpu::index_t i = 0; i < rows; ++i) {
    for (gpu::index_t k = 0; k < cols; ++k) out(i, k) = normal(random);
  }
  return out;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 4) return 2;
  const gpu::matrix<float> data = make_rows(std::atoll(argv[1]), std::atoll(argv[2]));
  const int permutations = std::atoi(argv[3]);
  gpu::pair_options options;
  if (argc > 4) {
    options.exec.target =
        std::string_view(argv[4]) == "cpu" ? gpu::backend::cpu : gpu::backend::cuda;
  }
  if (argc > 5) options.exec.cpu_threads = std::atoi(argv[5]);
  for (const gpu::measure what : {gpu::measure::spearman, gpu::measure::pearson}) {
    static_cast<void>(gpu::max_t(what, data.view(), options, {.permutations = 2}));
    const auto start = std::chrono::steady_clock::now();
    const gpu::max_t_null null =
        gpu::max_t(what, data.view(), options, {.permutations = permutations});
    const double seconds =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    std::printf("%-10s %d permutations %9.3f s, cut at 0.05 %.17g\n",
                gpu::info_of(what).name.data(), permutations, seconds, null.cut(0.05));
    std::fflush(stdout);
  }
}
