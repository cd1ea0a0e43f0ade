// One all-pairs job on a table from a file, timed from host rows to the host result: what the peers
// in bench/peers/ run beside, on the same data.
//
//   pair_job table.npy spearman|pearson edges|counts|dense max_p repeats [bins]
//
// `bins`: of the histogram of the kept pairs that counts have, none unless given.
// Prints JSON: the median, best and worst call in seconds after one that is not counted (0 repeats:
// that one), the preparation and the pairs of the median call, and how many pairs were kept.
// Freeing the memory of a result is part of a call, as it is for the peers.
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <string_view>
#include <variant>
#include <vector>

#include <gpu/pearson.hpp>
#include <gpu/spearman.hpp>

#include "io/read/read_table.hpp"

namespace {

struct timed_call {
  double seconds;
  gpu::pair_summary summary;
};

template <class T, class Sink>
gpu::pair_summary run(bool spearman, gpu::matrix_view<const T> data, const Sink& sink) {
  const gpu::pair_options options{};
  return spearman ? gpu::spearman_all_pairs(data, options, sink).summary
                  : gpu::pearson_all_pairs(data, options, sink).summary;
}

template <class T>
gpu::pair_summary run(bool spearman, std::string_view what, double max_p, gpu::index_t bins,
                      gpu::matrix_view<const T> data) {
  if (what == "dense") return run(spearman, data, gpu::dense_sink_f32{});
  if (what == "counts") {
    return run(spearman, data, gpu::count_sink{.keep = {.max_p = max_p}, .histogram_bins = bins});
  }
  return run(spearman, data, gpu::edge_sink{.keep = {.max_p = max_p}});
}

int measure(int argc, char** argv) {
  const gpu::io::table table = gpu::io::read_table(argv[1]);
  const bool spearman = std::string_view(argv[2]) == "spearman";
  const double max_p = std::atof(argv[4]);
  const gpu::index_t bins = argc > 6 ? std::atoll(argv[6]) : 0;
  std::vector<timed_call> calls(static_cast<std::size_t>(std::atoi(argv[5])) + 1);
  std::visit(
      [&](const auto& matrix) {
        for (timed_call& call : calls) {
          const auto start = std::chrono::steady_clock::now();
          call.summary = run(spearman, argv[3], max_p, bins, matrix.view());
          call.seconds =
              std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
        }
      },
      table.values);
  if (calls.size() > 1) calls.erase(calls.begin());
  std::sort(calls.begin(), calls.end(),
            [](const timed_call& x, const timed_call& y) { return x.seconds < y.seconds; });
  const timed_call& median = calls[calls.size() / 2];
  std::printf(
      "{\"device\": \"%s\", \"variant\": \"%s\", \"seconds\": %.6f, \"best\": %.6f, "
      "\"worst\": %.6f, \"prepare\": %.6f, \"pairs\": %.6f, \"kept\": %llu}\n",
      median.summary.device.c_str(), std::string(gpu::to_string(median.summary.variant)).c_str(),
      median.seconds, calls.front().seconds, calls.back().seconds, median.summary.prepare_seconds,
      median.summary.pairs_seconds, static_cast<unsigned long long>(median.summary.pairs_kept));
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 6 || argc > 7 || std::atoi(argv[5]) < 0) {
    std::fprintf(stderr,
                 "pair_job table spearman|pearson edges|counts|dense max_p repeats [bins]\n");
    return 2;
  }
  try {
    return measure(argc, argv);
  } catch (const std::exception& failure) {
    std::fprintf(stderr, "%s\n", failure.what());
    return 1;
  }
}
