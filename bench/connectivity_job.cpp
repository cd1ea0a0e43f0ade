// Times of the connectivity of soft-threshold networks: one line a measure and list of powers, from
// host to host, in milliseconds, the best of some calls; and beside them what a count takes.
//
// connectivity_job ROWS COLS [cpu|cuda] [THREADS]
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <random>
#include <string_view>
#include <vector>

#include <gpu/all_pairs.hpp>

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

template <class Sink>
void time_sink(const char* name, gpu::measure what, const gpu::matrix<float>& data,
               const gpu::pair_options& options, const Sink& sink) {
  double best = std::numeric_limits<double>::infinity();
  double pairs = best;
  double total = 0;
  for (int run = 0; run < 5 && total < 10; ++run) {
    const auto start = std::chrono::steady_clock::now();
    const auto result = gpu::all_pairs(what, data.view(), options, sink);
    const double seconds =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    best = std::min(best, seconds);
    pairs = std::min(pairs, result.summary.pairs_seconds);
    total += seconds;
  }
  std::printf("%-10s %-20s %9.3f ms, the pairs alone %9.3f ms\n", gpu::info_of(what).name.data(),
              name, 1e3 * best, 1e3 * pairs);
  std::fflush(stdout);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) return 2;
  const gpu::matrix<float> data = make_rows(std::atoll(argv[1]), std::atoll(argv[2]));
  gpu::pair_options options;
  if (argc > 3) {
    options.exec.target =
        std::string_view(argv[3]) == "cpu" ? gpu::backend::cpu : gpu::backend::cuda;
  }
  if (argc > 4) options.exec.cpu_threads = std::atoi(argv[4]);
  std::vector<double> integers;
  std::vector<double> halves;
  std::vector<double> fractions;
  for (int p = 1; p <= 20; ++p) {
    integers.push_back(p);
    halves.push_back(p / 2.0);
    fractions.push_back(p / 10.0);
  }
  const auto network = gpu::network_kind::signed_network;
  for (const gpu::measure what : {gpu::measure::spearman, gpu::measure::pearson}) {
    time_sink("counts", what, data, options, gpu::count_sink{.keep = {.min_abs = 0.3}});
    time_sink("power 6", what, data, options, gpu::connectivity_sink{.powers = {6}});
    time_sink("20 integers", what, data, options,
              gpu::connectivity_sink{.powers = integers, .network = network});
    time_sink("20 halves", what, data, options,
              gpu::connectivity_sink{.powers = halves, .network = network});
    time_sink("20 tenths", what, data, options,
              gpu::connectivity_sink{.powers = fractions, .network = network});
  }
}
