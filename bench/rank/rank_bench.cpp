// Ranking on the CPU: rows to packed centred ranks (the Spearman prologue) and rank_rows.
#include <benchmark/benchmark.h>

#include <gpu/rank.hpp>

#include "common/data.hpp"
#include "cpu/rank/centred_ranks.hpp"

namespace {

void cpu_centred_ranks_counts(benchmark::State& state) {
  const std::int64_t rows = state.range(0);
  const std::int64_t cols = state.range(1);
  const auto values = gpu_bench::count_rows<int>(rows, cols, 0, 0.5, 40);
  const std::int64_t pitch = (cols + 31) / 32 * 32;
  std::vector<std::int8_t> ranks(static_cast<std::size_t>(rows * pitch));
  std::vector<std::int64_t> sums(static_cast<std::size_t>(rows));
  for (auto _ : state) {
    gpu::cpu::centred_ranks<int, std::int8_t>({values.data(), rows, cols},
                                              {ranks.data(), rows, pitch}, sums.data(), 0);
    benchmark::ClobberMemory();
  }
  state.SetItemsProcessed(state.iterations() * rows);
}
BENCHMARK(cpu_centred_ranks_counts)
    ->Args({1'000'000, 30})
    ->Unit(benchmark::kMillisecond)
    ->UseRealTime();

template <class T>
void time_rank_rows(benchmark::State& state, const std::vector<T>& values,
                    gpu::rank_variant variant) {
  const std::int64_t rows = state.range(0);
  const std::int64_t cols = state.range(1);
  const gpu::matrix_view<const T> data(values.data(), rows, cols);
  for (auto _ : state) {
    const auto ranks =
        gpu::rank_rows(data, {.variant = variant, .exec = {.target = gpu::backend::cpu}});
    benchmark::DoNotOptimize(ranks.data());
  }
  state.SetItemsProcessed(state.iterations() * rows);
}

void cpu_rank_rows_counts(benchmark::State& state) {
  const auto values = gpu_bench::count_rows<int>(state.range(0), state.range(1), 0, 0.5, 40);
  time_rank_rows<int>(state, values, gpu::rank_variant::automatic);
}
BENCHMARK(cpu_rank_rows_counts)
    ->Args({1'000'000, 30})
    ->Unit(benchmark::kMillisecond)
    ->UseRealTime();

void cpu_rank_rows_float(benchmark::State& state) {
  const auto values = gpu_bench::random_values<float>(state.range(0) * state.range(1));
  const auto variant = static_cast<gpu::rank_variant>(state.range(2));
  state.SetLabel(variant == gpu::rank_variant::counting ? "counting" : "sort");
  time_rank_rows<float>(state, values, variant);
}
constexpr auto counting = static_cast<std::int64_t>(gpu::rank_variant::counting);
constexpr auto sort = static_cast<std::int64_t>(gpu::rank_variant::sort);
BENCHMARK(cpu_rank_rows_float)
    ->Args({200'000, 30, counting})
    ->Args({200'000, 30, sort})
    ->Args({50'000, 128, counting})
    ->Args({50'000, 128, sort})
    ->Args({20'000, 1000, sort})
    ->Args({1, 10'000'000, sort})
    ->Unit(benchmark::kMillisecond)
    ->UseRealTime();

}  // namespace
