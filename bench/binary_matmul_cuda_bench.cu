// Binary products on a GPU, device-resident, by variant: preparation of the operands included.
#include <algorithm>
#include <random>
#include <string>
#include <vector>

#include <gpu/binary_matmul.hpp>
#include <gpu/error.hpp>

#include "common/cuda_timing.hpp"

namespace {

using gpu_bench::device_array;

std::vector<std::uint32_t> random_words(std::int64_t count, unsigned seed) {
  std::vector<std::uint32_t> words(static_cast<std::size_t>(count));
  std::mt19937 engine(seed);
  for (std::uint32_t& word : words) word = static_cast<std::uint32_t>(engine());
  return words;
}

void multiply(benchmark::State& state, gpu::binary_matmul_variant variant) {
  const std::int64_t m = state.range(0);
  const std::int64_t n = state.range(1);
  const std::int64_t k = state.range(2);
  const device_array<std::uint32_t> a(random_words(m * gpu::bit_words(k), 1));
  const device_array<std::uint32_t> b(random_words(n * gpu::bit_words(k), 2));
  const device_array<std::int32_t> out(static_cast<std::size_t>(m * n));
  gpu::binary_matmul_options options{.variant = variant};
  try {
    const auto plan = gpu::plan_binary_matmul(
        m, n, k, {.variant = variant, .exec = {.target = gpu::backend::cuda}});
    const device_array<std::byte> workspace(std::max<std::size_t>(1, plan.workspace_bytes));
    options.workspace = {workspace.data(), static_cast<std::int64_t>(workspace.size())};
    gpu_bench::time_on_device(state, [&](cudaStream_t stream) {
      options.exec.stream = stream;
      gpu::binary_matmul(gpu::device_bit_matrix_view(a.data(), m, k),
                         gpu::device_bit_matrix_view(b.data(), n, k),
                         gpu::device_matrix_view<std::int32_t>(out.data(), m, n), options);
    });
  } catch (const gpu::unsupported& reason) {
    state.SkipWithError(reason.what());
    return;
  }
  gpu_bench::report_items(state, 2 * m * n * k);
}

[[maybe_unused]] const bool registered = [] {
  for (const auto variant :
       {gpu::binary_matmul_variant::popcount, gpu::binary_matmul_variant::popcount_shared,
        gpu::binary_matmul_variant::popcount_tiled, gpu::binary_matmul_variant::tensor,
        gpu::binary_matmul_variant::hopper}) {
    const std::string name = "binary_matmul/cuda/" + std::string(gpu::to_string(variant));
    auto* bench = benchmark::RegisterBenchmark(name.c_str(), multiply, variant);
    bench->UseManualTime()->Unit(benchmark::kMillisecond);
    bench->Args({1000, 1000, 1000})->Args({1024, 1024, 65536})->Args({4096, 4096, 4096});
    if (variant >= gpu::binary_matmul_variant::popcount_tiled) bench->Args({8192, 8192, 8192});
    if (variant >= gpu::binary_matmul_variant::tensor) {
      bench->Args({16384, 16384, 16384})->Args({32768, 32768, 1024});
    }
  }
  return true;
}();

}  // namespace
