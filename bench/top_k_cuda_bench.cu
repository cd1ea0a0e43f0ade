// top_k on a GPU, device-resident, with a caller's workspace and a cold L2: by size, k, kind of
// input and variant, beside a plain read of the data and CUB.
#include <cub/device/device_radix_sort.cuh>

#include <string>

#include <gpu/top_k.hpp>

#include "common/cuda_timing.hpp"
#include "common/data.hpp"

namespace {

using gpu::index_t;
using gpu_bench::device_array;

enum class input { random, all_equal, nearly_all_equal, ascending, few_distinct, below_million };

template <class T>
__global__ void fill_kernel(T* out, index_t n, input kind) {
  const index_t step = static_cast<index_t>(gridDim.x) * blockDim.x;
  for (index_t i = static_cast<index_t>(blockIdx.x) * blockDim.x + threadIdx.x; i < n; i += step) {
    const std::uint64_t bits = gpu_bench::hash(static_cast<std::uint64_t>(i));
    double value = gpu_bench::unit(bits) * 2e9 - 1e9;
    if (kind == input::all_equal) value = 7;
    if (kind == input::nearly_all_equal && bits % 100 != 0) value = 7;
    if (kind == input::ascending)
      value = -1e9 + 2e9 * static_cast<double>(i) / static_cast<double>(n);
    if (kind == input::few_distinct) value = static_cast<double>(bits % 10);
    if (kind == input::below_million) value = static_cast<double>(bits % 1000000);
    out[i] = static_cast<T>(value);
  }
}

template <class T>
device_array<T> make_input(index_t n, input kind = input::random) {
  device_array<T> out(static_cast<std::size_t>(n));
  fill_kernel<<<2048, 256>>>(out.data(), n, kind);
  gpu_bench::check(cudaDeviceSynchronize());
  return out;
}

// What a single read takes: the limit of every selection.
__global__ void read_kernel(const uint4* in, index_t vectors, unsigned* out) {
  const index_t step = static_cast<index_t>(gridDim.x) * blockDim.x;
  unsigned sum = 0;
#pragma unroll 4
  for (index_t i = static_cast<index_t>(blockIdx.x) * blockDim.x + threadIdx.x; i < vectors;
       i += step) {
    const uint4 v = __ldcs(in + i);
    sum |= v.x ^ v.y ^ v.z ^ v.w;
  }
  if (sum == 0xdeadbeef) *out = sum;
}

void cuda_read(benchmark::State& state) {
  const index_t n = state.range(0);
  const auto data = make_input<float>(n);
  const device_array<unsigned> out(1);
  gpu_bench::time_on_device(state, [&](cudaStream_t stream) {
    read_kernel<<<132 * 8, 512, 0, stream>>>(reinterpret_cast<const uint4*>(data.data()), n / 4,
                                             out.data());
  });
  gpu_bench::report_bytes(state, n * 4);
}

template <class T>
void time_vector(benchmark::State& state, input kind, gpu::top_k_variant variant) {
  const index_t n = state.range(0);
  const index_t k = state.range(1);
  const auto data = make_input<T>(n, kind);
  const device_array<T> values(static_cast<std::size_t>(k));
  const device_array<index_t> indices(static_cast<std::size_t>(k));
  gpu::top_k_options options;
  options.variant = variant;
  const auto plan = gpu::plan_top_k<T>(1, n, k, options);
  const device_array<std::byte> workspace(plan.workspace_bytes + 256);
  options.workspace = {workspace.data(), static_cast<index_t>(workspace.size())};
  gpu_bench::time_on_device(state, [&](cudaStream_t stream) {
    options.exec.stream = stream;
    gpu::top_k(gpu::device_vector_view<const T>(data.data(), n), k,
               gpu::device_vector_view<T>(values.data(), k),
               gpu::device_vector_view<index_t>(indices.data(), k), options);
  });
  gpu_bench::report_bytes(state, n * static_cast<index_t>(sizeof(T)));
  state.SetLabel(std::string(gpu::to_string(plan.variant)));
}

template <class T>
void time_distinct(benchmark::State& state, input kind, gpu::top_k_variant variant) {
  const index_t n = state.range(0);
  const index_t k = state.range(1);
  const auto data = make_input<T>(n, kind);
  const device_array<T> values(static_cast<std::size_t>(k));
  const device_array<index_t> indices(static_cast<std::size_t>(k));
  const device_array<index_t> counts(static_cast<std::size_t>(k));
  const device_array<index_t> found(1);
  gpu::top_k_options options;
  options.variant = variant;
  const auto plan = gpu::plan_top_k_distinct<T>(1, n, k, options);
  const device_array<std::byte> workspace(plan.workspace_bytes + 256);
  options.workspace = {workspace.data(), static_cast<index_t>(workspace.size())};
  gpu_bench::time_on_device(state, [&](cudaStream_t stream) {
    options.exec.stream = stream;
    gpu::top_k_distinct(gpu::device_vector_view<const T>(data.data(), n), k,
                        gpu::device_vector_view<T>(values.data(), k),
                        gpu::device_vector_view<index_t>(indices.data(), k),
                        gpu::device_vector_view<index_t>(counts.data(), k),
                        gpu::device_vector_view<index_t>(found.data(), 1), options);
  });
  gpu_bench::report_bytes(state, n * static_cast<index_t>(sizeof(T)));
  state.SetLabel(std::string(gpu::to_string(plan.variant)));
}

void time_rows(benchmark::State& state, gpu::top_k_variant variant) {
  const index_t rows = state.range(0);
  const index_t cols = state.range(1);
  const index_t k = state.range(2);
  const auto data = make_input<float>(rows * cols);
  const device_array<float> values(static_cast<std::size_t>(rows * k));
  const device_array<index_t> indices(static_cast<std::size_t>(rows * k));
  gpu::top_k_options options;
  options.variant = variant;
  const auto plan = gpu::plan_top_k<float>(rows, cols, k, options);
  const device_array<std::byte> workspace(plan.workspace_bytes + 256);
  options.workspace = {workspace.data(), static_cast<index_t>(workspace.size())};
  gpu_bench::time_on_device(state, [&](cudaStream_t stream) {
    options.exec.stream = stream;
    gpu::top_k(gpu::device_matrix_view<const float>(data.data(), rows, cols), k,
               gpu::device_matrix_view<float>(values.data(), rows, k),
               gpu::device_matrix_view<index_t>(indices.data(), rows, k), options);
  });
  gpu_bench::report_bytes(state, rows * cols * 4);
  state.SetLabel(std::string(gpu::to_string(plan.variant)));
}

// CUB's sort of keys with 32-bit positions: all of it, whatever k.
void cuda_cub_sort_pairs(benchmark::State& state) {
  const index_t n = state.range(0);
  const auto keys = make_input<float>(n);
  const device_array<float> sorted(static_cast<std::size_t>(n));
  const device_array<std::uint32_t> positions(static_cast<std::size_t>(n));
  const device_array<std::uint32_t> sorted_positions(static_cast<std::size_t>(n));
  const auto sort = [&](void* memory, std::size_t& bytes, cudaStream_t stream) {
    gpu_bench::check(cub::DeviceRadixSort::SortPairsDescending(
        memory, bytes, keys.data(), sorted.data(), positions.data(), sorted_positions.data(), n, 0,
        32, stream));
  };
  std::size_t bytes = 0;
  sort(nullptr, bytes, nullptr);
  const device_array<std::byte> memory(bytes);
  gpu_bench::time_on_device(state,
                            [&](cudaStream_t stream) { sort(memory.data(), bytes, stream); });
  gpu_bench::report_bytes(state, n * 4);
}

void float_vector(benchmark::State& state, input kind, gpu::top_k_variant variant) {
  time_vector<float>(state, kind, variant);
}
void int_vector(benchmark::State& state, input kind, gpu::top_k_variant variant) {
  time_vector<int>(state, kind, variant);
}
void int_distinct(benchmark::State& state, input kind, gpu::top_k_variant variant) {
  time_distinct<int>(state, kind, variant);
}

constexpr index_t million = 1'000'000;
constexpr index_t large = 100'000'000;
constexpr index_t larger = index_t{1} << 28;
using variant = gpu::top_k_variant;

#define GPU_BENCH_SETTINGS ->Unit(benchmark::kMicrosecond)->UseManualTime()
BENCHMARK(cuda_read)->Arg(million)->Arg(large)->Arg(larger) GPU_BENCH_SETTINGS;
BENCHMARK_CAPTURE(float_vector, cuda_float, input::random, variant::automatic)
    ->ArgsProduct({{large, larger}, {20, 256, 2048}}) GPU_BENCH_SETTINGS;
BENCHMARK_CAPTURE(int_vector, cuda_int32, input::random, variant::automatic)
    ->ArgsProduct({{1000, 30'000, million, 10 * million, large, larger},
                   {20, 256, 2048}}) GPU_BENCH_SETTINGS;
BENCHMARK_CAPTURE(float_vector, cuda_float_large_k, input::random, variant::automatic)
    ->ArgsProduct({{large}, {4096, 100'000, 10 * million}}) GPU_BENCH_SETTINGS;
BENCHMARK_CAPTURE(float_vector, cuda_all_equal, input::all_equal, variant::automatic)
    ->ArgsProduct({{million, large}, {20, 2048}}) GPU_BENCH_SETTINGS;
BENCHMARK_CAPTURE(float_vector, cuda_99_percent_equal, input::nearly_all_equal, variant::automatic)
    ->ArgsProduct({{million, large}, {20, 2048}}) GPU_BENCH_SETTINGS;
BENCHMARK_CAPTURE(float_vector, cuda_ascending, input::ascending, variant::automatic)
    ->ArgsProduct({{million, large}, {20, 2048}}) GPU_BENCH_SETTINGS;
BENCHMARK_CAPTURE(float_vector, cuda_few_distinct, input::few_distinct, variant::automatic)
    ->ArgsProduct({{million, large}, {20, 2048}}) GPU_BENCH_SETTINGS;
BENCHMARK_CAPTURE(int_distinct, cuda_distinct_below_million, input::below_million,
                  variant::automatic)
    ->ArgsProduct({{million, large}, {20, 1024}}) GPU_BENCH_SETTINGS;
BENCHMARK_CAPTURE(int_distinct, cuda_distinct_random, input::random, variant::automatic)
    ->ArgsProduct({{million, large}, {20, 100}}) GPU_BENCH_SETTINGS;
BENCHMARK_CAPTURE(int_distinct, cuda_distinct_all_equal, input::all_equal, variant::automatic)
    ->ArgsProduct({{million, large}, {20}}) GPU_BENCH_SETTINGS;
BENCHMARK_CAPTURE(int_distinct, cuda_distinct_few, input::few_distinct, variant::automatic)
    ->ArgsProduct({{million, large}, {20}}) GPU_BENCH_SETTINGS;
BENCHMARK_CAPTURE(int_vector, cuda_radix_select, input::random, variant::radix_select)
    ->ArgsProduct({{million, large}, {20}}) GPU_BENCH_SETTINGS;
BENCHMARK_CAPTURE(int_vector, cuda_two_pass_insert, input::random, variant::two_pass_insert)
    ->ArgsProduct({{million, large}, {20}}) GPU_BENCH_SETTINGS;
BENCHMARK_CAPTURE(time_rows, cuda_rows, variant::automatic)
    ->Args({10'000, 10'000, 32})
    ->Args({10'000, 10'000, 256})
    ->Args({10'000, 10'000, 2048})
    ->Args({100'000, 1000, 8})
    ->Args({100'000, 1000, 32})
    ->Args({1'000'000, 100, 8})
    ->Args({3'000'000, 30, 5})
    ->Args({100, 1'000'000, 20})
    ->Args({1000, 50'000, 20}) GPU_BENCH_SETTINGS;
BENCHMARK(cuda_cub_sort_pairs)->Arg(million)->Arg(large) GPU_BENCH_SETTINGS;

}  // namespace
