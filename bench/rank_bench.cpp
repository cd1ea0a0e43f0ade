// Ranking on the CPU: rows to packed centred ranks (the Spearman prologue) and rank_rows.
#include <benchmark/benchmark.h>

#include "common/data.hpp"
#include "cpu/centred_ranks.hpp"

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

}  // namespace
