// Times of the connectivity of soft-threshold networks: one line a measure and list of powers, from
// host to host, in milliseconds, the best of some calls; and beside them what a count takes.
//
// connectivity_job ROWS COLS [cpu|cuda] [THREADS]
#include <cstdio>
#include <cstdlib>
#include <vector>

#include <gpu/all_pairs.hpp>

#include "common/row_job.hpp"

namespace {

template <class Sink>
void time_sink(const char* name, gpu::measure what, const gpu::matrix<float>& data,
               const gpu::pair_options& options, const Sink& sink) {
  const gpu_bench::call_seconds best = gpu_bench::best_of_calls(what, data, options, sink);
  std::printf("%-10s %-20s %9.3f ms, the pairs alone %9.3f ms\n", gpu::info_of(what).name.data(),
              name, 1e3 * best.whole, 1e3 * best.pairs);
  std::fflush(stdout);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) return 2;
  const gpu::matrix<float> data = gpu_bench::normal_rows(std::atoll(argv[1]), std::atoll(argv[2]));
  const gpu::pair_options options = gpu_bench::options_of(argc, argv, 3);
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
