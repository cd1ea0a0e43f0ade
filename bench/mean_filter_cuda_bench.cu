// The mean filter on a GPU, device-resident: every variant beside the device copies,
// cudaMemcpyAsync and a copy kernel, of the same run. Bytes per second count one read and one
// write.
#include <gpu/mean_filter.hpp>

#include "common/cuda_timing.hpp"
#include "common/data.hpp"

namespace {

using gpu::mean_filter_variant;
using gpu_bench::device_array;

// Four 16-byte elements in flight per thread.
__global__ void copy_kernel(const uint4* from, uint4* to, std::int64_t pieces) {
  const std::int64_t first = static_cast<std::int64_t>(blockIdx.x) * 4 * blockDim.x + threadIdx.x;
  uint4 held[4];
#pragma unroll
  for (int u = 0; u < 4; ++u) {
    if (first + u * blockDim.x < pieces) held[u] = from[first + u * blockDim.x];
  }
#pragma unroll
  for (int u = 0; u < 4; ++u) {
    if (first + u * blockDim.x < pieces) to[first + u * blockDim.x] = held[u];
  }
}

// Device data of the last size asked for: filling it takes longer than timing it.
template <class T>
struct row_pair {
  explicit row_pair(std::int64_t size)
      : in(gpu_bench::random_values<T>(size)), out(static_cast<std::size_t>(size)) {}
  device_array<T> in;
  device_array<T> out;
};

template <class T>
void time_rows(benchmark::State& state,
               void (*body)(const row_pair<T>&, cudaStream_t, const benchmark::State&)) {
  const row_pair<T> rows(state.range(0));
  gpu_bench::time_on_device(state, [&](cudaStream_t stream) { body(rows, stream, state); });
  gpu_bench::report_bytes(state, static_cast<std::int64_t>(rows.in.bytes() + rows.out.bytes()));
}

template <class T>
void cuda_memcpy(benchmark::State& state) {
  time_rows<T>(state, [](const row_pair<T>& rows, cudaStream_t stream, const benchmark::State&) {
    gpu_bench::check(cudaMemcpyAsync(rows.out.data(), rows.in.data(), rows.in.bytes(),
                                     cudaMemcpyDeviceToDevice, stream));
  });
}

template <class T>
void cuda_copy_kernel(benchmark::State& state) {
  time_rows<T>(state, [](const row_pair<T>& rows, cudaStream_t stream, const benchmark::State&) {
    const auto pieces = static_cast<std::int64_t>(rows.in.bytes() / sizeof(uint4));
    copy_kernel<<<static_cast<unsigned>((pieces + 1023) / 1024), 256, 0, stream>>>(
        reinterpret_cast<const uint4*>(rows.in.data()), reinterpret_cast<uint4*>(rows.out.data()),
        pieces);
    gpu_bench::check(cudaGetLastError());
  });
}

// Arguments: elements, window, variant.
template <class T>
void cuda_mean_filter(benchmark::State& state) {
  state.SetLabel(std::string(gpu::to_string(static_cast<mean_filter_variant>(state.range(2)))));
  time_rows<T>(state,
               [](const row_pair<T>& rows, cudaStream_t stream, const benchmark::State& arguments) {
                 const gpu::mean_filter_options options{
                     .window = arguments.range(1),
                     .boundary = gpu::boundary::zero,
                     .variant = static_cast<mean_filter_variant>(arguments.range(2)),
                     .exec = {.target = gpu::backend::cuda, .stream = gpu::stream_ref(stream)}};
                 const auto size = static_cast<std::int64_t>(rows.in.size());
                 gpu::mean_filter(gpu::device_vector_view<const T>(rows.in.data(), size),
                                  gpu::device_vector_view<T>(rows.out.data(), size), options);
               });
}

// Arguments: elements, weights, variant.
template <class T>
void cuda_convolve(benchmark::State& state) {
  state.SetLabel(std::string(gpu::to_string(static_cast<mean_filter_variant>(state.range(2)))));
  time_rows<T>(
      state, [](const row_pair<T>& rows, cudaStream_t stream, const benchmark::State& arguments) {
        const std::vector<double> weights(static_cast<std::size_t>(arguments.range(1)), 0.2);
        const auto size = static_cast<std::int64_t>(rows.in.size());
        gpu::convolve(gpu::device_vector_view<const T>(rows.in.data(), size),
                      std::span<const double>(weights),
                      gpu::device_vector_view<T>(rows.out.data(), size),
                      {.boundary = gpu::boundary::zero,
                       .variant = static_cast<mean_filter_variant>(arguments.range(2)),
                       .exec = {.stream = gpu::stream_ref(stream)}});
      });
}

constexpr std::int64_t ten_million = 10'000'000;
constexpr std::int64_t large = std::int64_t{1} << 28;

void windows_of(benchmark::internal::Benchmark* bench, std::int64_t size) {
  const auto add = [&](std::int64_t window, mean_filter_variant variant) {
    bench->Args({size, window, static_cast<std::int64_t>(variant)});
  };
  for (const std::int64_t window : {5, 8, 9, 17, 101, 1001, 4097, 20001, 1000001}) {
    add(window, mean_filter_variant::automatic);
  }
  for (const std::int64_t window : {5, 101}) {
    for (const auto variant : {mean_filter_variant::direct, mean_filter_variant::constant_memory,
                               mean_filter_variant::shared_memory}) {
      add(window, variant);
    }
  }
  add(5, mean_filter_variant::block_sums);
}
void convolve_windows(benchmark::internal::Benchmark* bench) {
  for (const auto variant : {mean_filter_variant::direct, mean_filter_variant::constant_memory,
                             mean_filter_variant::shared_memory, mean_filter_variant::block_sums}) {
    bench->Args({ten_million, 5, static_cast<std::int64_t>(variant)});
  }
}

BENCHMARK_TEMPLATE(cuda_memcpy, double)
    ->Arg(ten_million)
    ->Unit(benchmark::kMillisecond)
    ->UseManualTime();
BENCHMARK_TEMPLATE(cuda_copy_kernel, double)
    ->Arg(ten_million)
    ->Unit(benchmark::kMillisecond)
    ->UseManualTime();
BENCHMARK_TEMPLATE(cuda_mean_filter, double)
    ->Apply([](benchmark::internal::Benchmark* b) { windows_of(b, ten_million); })
    ->Unit(benchmark::kMillisecond)
    ->UseManualTime();
BENCHMARK_TEMPLATE(cuda_convolve, double)
    ->Apply(convolve_windows)
    ->Unit(benchmark::kMillisecond)
    ->UseManualTime();
BENCHMARK_TEMPLATE(cuda_memcpy, float)->Arg(large)->Unit(benchmark::kMillisecond)->UseManualTime();
BENCHMARK_TEMPLATE(cuda_copy_kernel, float)
    ->Arg(large)
    ->Unit(benchmark::kMillisecond)
    ->UseManualTime();
BENCHMARK_TEMPLATE(cuda_mean_filter, float)
    ->Apply([](benchmark::internal::Benchmark* b) { windows_of(b, large); })
    ->Unit(benchmark::kMillisecond)
    ->UseManualTime();
// Latency of a small row.
BENCHMARK_TEMPLATE(cuda_memcpy, double)->Arg(1000)->Unit(benchmark::kMicrosecond)->UseManualTime();
BENCHMARK_TEMPLATE(cuda_mean_filter, double)
    ->Args({1000, 5, 0})
    ->Args({1000, 101, 0})
    ->Unit(benchmark::kMicrosecond)
    ->UseManualTime();

}  // namespace
