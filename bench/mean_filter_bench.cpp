// The mean filter on the CPU, beside a copy by the same threads.
#include <benchmark/benchmark.h>
#include <omp.h>

#include <cstring>

#include <gpu/mean_filter.hpp>

#include "common/data.hpp"

namespace {

constexpr std::int64_t elements = 10'000'000;

void report(benchmark::State& state, std::size_t element_bytes) {
  state.SetBytesProcessed(state.iterations() * elements * 2 *
                          static_cast<std::int64_t>(element_bytes));
}

template <class T>
void cpu_copy(benchmark::State& state) {
  const auto in = gpu_bench::random_values<T>(elements);
  std::vector<T> out(in.size());
  for (auto _ : state) {
#pragma omp parallel
    {
      const std::int64_t threads = omp_get_num_threads();
      const std::int64_t first = elements * omp_get_thread_num() / threads;
      const std::int64_t end = elements * (omp_get_thread_num() + 1) / threads;
      std::memcpy(out.data() + first, in.data() + first,
                  static_cast<std::size_t>(end - first) * sizeof(T));
    }
    benchmark::ClobberMemory();
  }
  report(state, sizeof(T));
}
BENCHMARK_TEMPLATE(cpu_copy, double)->Unit(benchmark::kMillisecond)->UseRealTime();
BENCHMARK_TEMPLATE(cpu_copy, float)->Unit(benchmark::kMillisecond)->UseRealTime();

template <class T>
void cpu_mean_filter(benchmark::State& state) {
  const auto in = gpu_bench::random_values<T>(elements);
  std::vector<T> out(in.size());
  const gpu::mean_filter_options options{.window = state.range(0),
                                         .boundary = gpu::boundary::zero,
                                         .exec = {.target = gpu::backend::cpu}};
  for (auto _ : state) {
    gpu::mean_filter(std::span(in), std::span(out), options);
    benchmark::ClobberMemory();
  }
  report(state, sizeof(T));
}
BENCHMARK_TEMPLATE(cpu_mean_filter, double)
    ->Arg(5)
    ->Arg(101)
    ->Arg(1001)
    ->Arg(4097)
    ->Arg(1'000'001)
    ->Unit(benchmark::kMillisecond)
    ->UseRealTime();
BENCHMARK_TEMPLATE(cpu_mean_filter, float)
    ->Arg(5)
    ->Arg(101)
    ->Arg(1001)
    ->Unit(benchmark::kMillisecond)
    ->UseRealTime();

}  // namespace
