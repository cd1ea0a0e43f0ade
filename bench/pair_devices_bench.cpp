// Spearman of all pairs on 1, 2, 4 and 8 GPUs of one host, from host input to host result. pairs/s
// is end to end; prepare_ms (upload, ranks, packing on every device) and pairs_ms (all that
// follows) are its parts.
#include <benchmark/benchmark.h>

#include <cstdint>
#include <string>

#include <gpu/backend.hpp>
#include <gpu/error.hpp>
#include <gpu/spearman.hpp>

#include "common/data.hpp"

namespace {

constexpr std::int64_t rows = 4'000'000;
constexpr std::int64_t cols = 30;

const gpu::edge_sink edges_strict{.keep = {.max_p = 0.05, .adjust = gpu::adjustment::bonferroni}};
const gpu::count_sink count_loose{.keep = {.max_p = 0.05}};

gpu::matrix_view<const std::int32_t> dense_counts() {
  static const auto values = gpu_bench::count_rows<std::int32_t>(rows, cols, 0.0, 0.5, 40);
  return {values.data(), rows, cols};
}

template <class Sink>
void time_devices(benchmark::State& state, int devices, const Sink& sink) {
  gpu::pair_options options;
  options.exec.target = gpu::backend::cuda;
  for (int ordinal = 0; ordinal < devices; ++ordinal) options.exec.devices.push_back(ordinal);
  const auto data = dense_counts();
  static int warm_devices = 0;
  if (warm_devices < devices) {
    const gpu::matrix_view<const std::int32_t> some(data.row(0), rows / 8, cols);
    static_cast<void>(gpu::spearman_all_pairs(some, options, sink));
    static_cast<void>(gpu::spearman_all_pairs(data, options, edges_strict));
    warm_devices = devices;
  }
  double prepare_seconds = 0;
  double pairs_seconds = 0;
  std::uint64_t kept = 0;
  for (auto _ : state) {
    try {
      const gpu::pair_summary summary = gpu::spearman_all_pairs(data, options, sink).summary;
      prepare_seconds += summary.prepare_seconds;
      pairs_seconds += summary.pairs_seconds;
      kept = summary.pairs_kept;
    } catch (const gpu::error& failure) {
      state.SkipWithError(failure.what());
      return;
    }
  }
  const double pairs = static_cast<double>(rows) * static_cast<double>(rows - 1) / 2;
  using benchmark::Counter;
  state.counters["pairs/s"] = Counter(pairs, Counter::kIsIterationInvariantRate);
  state.counters["pairs/s/device"] = Counter(pairs / devices, Counter::kIsIterationInvariantRate);
  state.counters["prepare_ms"] = Counter(prepare_seconds * 1e3, Counter::kAvgIterations);
  state.counters["pairs_ms"] = Counter(pairs_seconds * 1e3, Counter::kAvgIterations);
  state.counters["kept"] = static_cast<double>(kept);
}

const bool registered = [] {
  const auto devices_there = static_cast<int>(gpu::available_devices().size());
  for (const int devices : {1, 2, 4, 8}) {
    if (devices > devices_there) break;
    const std::string shape = std::to_string(rows) + 'x' + std::to_string(cols);
    const auto add = [&](const std::string& what, const auto& sink, int iterations) {
      const std::string name =
          "spearman/cuda_devices_" + std::to_string(devices) + '/' + what + '/' + shape;
      benchmark::RegisterBenchmark(
          name.c_str(), [=](benchmark::State& state) { time_devices(state, devices, sink); })
          ->UseRealTime()
          ->Iterations(iterations)
          ->Repetitions(3)
          ->Unit(benchmark::kMillisecond);
    };
    add("edges_bonferroni", edges_strict, 4);
    add("count_loose", count_loose, 1);
  }
  return true;
}();

}  // namespace
