// Binary products on the CPU, and the packing of floats into bits.
#include <benchmark/benchmark.h>

#include <cstdint>

#include <gpu/binary_matmul.hpp>

#include "common/data.hpp"

namespace {

const gpu::execution on_cpu{.target = gpu::backend::cpu};

void binary_matmul_cpu(benchmark::State& state) {
  const gpu::index_t n = state.range(0);
  const auto values = gpu_bench::random_values<float>(n * n, 1);
  const gpu::bit_matrix bits =
      gpu::pack_bits(gpu::matrix_view<const float>(values.data(), n, n), 0.0F, on_cpu);
  for (auto _ : state) {
    const auto out = gpu::binary_matmul(bits.view(), bits.view(), {.exec = on_cpu});
    benchmark::DoNotOptimize(out.data());
  }
  state.SetItemsProcessed(state.iterations() * 2 * n * n * n);
}
BENCHMARK(binary_matmul_cpu)
    ->Arg(512)
    ->Arg(1000)
    ->Arg(2048)
    ->Arg(4096)
    ->Unit(benchmark::kMillisecond)
    ->UseRealTime();

void pack_bits_cpu(benchmark::State& state) {
  const gpu::index_t n = state.range(0);
  const auto values = gpu_bench::random_values<float>(n * n, 1);
  for (auto _ : state) {
    const auto bits =
        gpu::pack_bits(gpu::matrix_view<const float>(values.data(), n, n), 0.0F, on_cpu);
    benchmark::DoNotOptimize(bits.words());
  }
  state.SetBytesProcessed(state.iterations() * n * n * 4);
}
BENCHMARK(pack_bits_cpu)->Arg(4096)->Unit(benchmark::kMillisecond)->UseRealTime();

}  // namespace
