// top_k on the CPU: one thread and all of them, beside the standard library's partial sort.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <functional>

#include <gpu/top_k.hpp>

#include "common/data.hpp"

namespace {

gpu::top_k_options on_cpu(std::int64_t threads) {
  gpu::top_k_options options;
  options.exec.target = gpu::backend::cpu;
  options.exec.cpu_threads = static_cast<int>(threads);
  return options;
}

void cpu_top_k(benchmark::State& state) {
  const auto x = gpu_bench::random_values<float>(state.range(0));
  const auto options = on_cpu(state.range(2));
  for (auto _ : state) benchmark::DoNotOptimize(gpu::top_k(x, state.range(1), options));
  state.SetBytesProcessed(state.iterations() * state.range(0) * 4);
}
BENCHMARK(cpu_top_k)
    ->ArgsProduct({{1'000'000, 100'000'000}, {20, 256, 2048}, {1, 0}})
    ->Unit(benchmark::kMillisecond)
    ->UseRealTime();

void cpu_top_k_distinct(benchmark::State& state) {
  auto x = gpu_bench::random_values<int>(1'000'000);
  for (int& value : x)
    value = static_cast<int>(static_cast<unsigned>(value) % static_cast<unsigned>(state.range(0)));
  const auto options = on_cpu(state.range(1));
  for (auto _ : state) benchmark::DoNotOptimize(gpu::top_k_distinct(x, 20, options));
  state.SetBytesProcessed(state.iterations() * 4'000'000);
}
BENCHMARK(cpu_top_k_distinct)
    ->ArgsProduct({{1'000'000, 1000, 1}, {1, 0}})
    ->Unit(benchmark::kMillisecond)
    ->UseRealTime();

// Values alone, without positions.
void cpu_partial_sort(benchmark::State& state) {
  const auto x = gpu_bench::random_values<float>(state.range(0));
  std::vector<float> best(static_cast<std::size_t>(state.range(1)));
  for (auto _ : state) {
    std::partial_sort_copy(x.begin(), x.end(), best.begin(), best.end(), std::greater<>());
    benchmark::DoNotOptimize(best.data());
  }
  state.SetBytesProcessed(state.iterations() * state.range(0) * 4);
}
BENCHMARK(cpu_partial_sort)
    ->ArgsProduct({{1'000'000, 100'000'000}, {20}})
    ->Unit(benchmark::kMillisecond)
    ->UseRealTime();

}  // namespace
