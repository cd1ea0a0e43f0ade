// Ranking on a GPU, device-resident: the Spearman prologue beside CUB's segmented sort, which does
// only the sorting part of it.
#include <thrust/iterator/counting_iterator.h>
#include <thrust/iterator/transform_iterator.h>
#include <cub/device/device_segmented_sort.cuh>

#include "common/cuda_timing.hpp"
#include "common/data.hpp"
#include "kernels/rank/kernels.hpp"

namespace {

using gpu_bench::device_array;

template <class T, class Integer>
void time_centred_ranks(benchmark::State& state, const std::vector<T>& values) {
  const std::int64_t rows = state.range(0);
  const std::int64_t cols = state.range(1);
  const std::int64_t pitch = (cols + 31) / 32 * 32;
  const device_array<T> data(values);
  const device_array<Integer> ranks(static_cast<std::size_t>(rows * pitch));
  const device_array<std::int64_t> sums(static_cast<std::size_t>(rows));
  gpu_bench::time_on_device(state, [&](cudaStream_t stream) {
    gpu::kernels::launch_centred_ranks<T, Integer>(
        {data.data(), rows, cols}, {ranks.data(), rows, pitch}, sums.data(), stream);
  });
  gpu_bench::report_items(state, rows);
  gpu_bench::report_bytes(state,
                          static_cast<std::int64_t>(data.bytes() + ranks.bytes() + sums.bytes()));
}

void cuda_centred_ranks_counts(benchmark::State& state) {
  time_centred_ranks<int, std::int8_t>(
      state, gpu_bench::count_rows<int>(state.range(0), state.range(1), 0, 0.5, 40));
}
BENCHMARK(cuda_centred_ranks_counts)
    ->Args({9'879'896, 30})
    ->Args({9'879'896, 20})
    ->Args({4'000'000, 48})
    ->Args({4'000'000, 64})
    ->Args({2'000'000, 128})
    ->Unit(benchmark::kMillisecond)
    ->UseManualTime();

void cuda_centred_ranks_float(benchmark::State& state) {
  time_centred_ranks<float, std::int16_t>(
      state, gpu_bench::random_values<float>(state.range(0) * state.range(1)));
}
BENCHMARK(cuda_centred_ranks_float)
    ->Args({9'879'896, 30})
    ->Args({20'000, 1000})
    ->Args({20'000, 4000})
    ->Args({4'000, 20'000})
    ->Args({1'000, 100'000})
    ->Args({1, 10'000'000})
    ->Unit(benchmark::kMillisecond)
    ->UseManualTime();

// Every variant that takes the shape, average ranks as doubles, through the public call.
void cuda_rank_rows_variants(benchmark::State& state) {
  const std::int64_t rows = state.range(0);
  const std::int64_t cols = state.range(1);
  const auto variant = static_cast<gpu::rank_variant>(state.range(2));
  constexpr const char* names[] = {"automatic", "counting", "block_sort", "segmented_sort"};
  state.SetLabel(names[state.range(2)]);
  const device_array<float> data(gpu_bench::random_values<float>(rows * cols));
  const device_array<double> ranks(data.size());
  gpu_bench::time_on_device(state, [&](cudaStream_t stream) {
    gpu::rank_rows(gpu::device_matrix_view<const float>(data.data(), rows, cols),
                   gpu::device_matrix_view<double>(ranks.data(), rows, cols),
                   {.variant = variant, .exec = {.stream = stream}});
  });
  gpu_bench::report_items(state, rows * cols);
}
void each_variant(benchmark::internal::Benchmark* benchmark) {
  constexpr std::int64_t elements = 16'000'000;
  for (const std::int64_t cols : {30, 64, 96, 128, 1000, 4000, 8000, 16'000}) {
    for (const std::int64_t variant : {1, 2, 3}) {
      if ((variant == 1 && cols > 128) || (variant == 2 && cols > 8192)) continue;
      benchmark->Args({elements / cols, cols, variant});
    }
  }
  benchmark->Args({1000, 30, 0});
}
BENCHMARK(cuda_rank_rows_variants)
    ->Apply(each_variant)
    ->Unit(benchmark::kMicrosecond)
    ->UseManualTime();

struct row_start {
  std::int64_t cols;
  __host__ __device__ std::int64_t operator()(std::int64_t row) const { return row * cols; }
};

// Keys with a 32-bit column each, as an argsort of rows needs.
template <class T>
void time_cub_segmented_sort(benchmark::State& state, const std::vector<T>& values) {
  const std::int64_t rows = state.range(0);
  const std::int64_t cols = state.range(1);
  const device_array<T> keys(values);
  const device_array<T> sorted_keys(values.size());
  const device_array<std::uint32_t> columns(values.size());
  const device_array<std::uint32_t> sorted_columns(values.size());
  const auto begins = thrust::make_transform_iterator(
      thrust::make_counting_iterator(std::int64_t{0}), row_start{cols});
  const auto sort = [&](void* temporary, std::size_t& bytes, cudaStream_t stream) {
    gpu_bench::check(cub::DeviceSegmentedSort::SortPairs(
        temporary, bytes, keys.data(), sorted_keys.data(), columns.data(), sorted_columns.data(),
        static_cast<int>(rows * cols), static_cast<int>(rows), begins, begins + 1, stream));
  };
  std::size_t bytes = 0;
  sort(nullptr, bytes, nullptr);
  const device_array<std::byte> temporary(bytes);
  gpu_bench::time_on_device(state,
                            [&](cudaStream_t stream) { sort(temporary.data(), bytes, stream); });
  gpu_bench::report_items(state, rows);
}

void cuda_peer_cub_segmented_sort_counts(benchmark::State& state) {
  time_cub_segmented_sort<int>(
      state, gpu_bench::count_rows<int>(state.range(0), state.range(1), 0, 0.5, 40));
}
BENCHMARK(cuda_peer_cub_segmented_sort_counts)
    ->Args({9'879'896, 30})
    ->Unit(benchmark::kMillisecond)
    ->UseManualTime();

void cuda_peer_cub_segmented_sort_float(benchmark::State& state) {
  time_cub_segmented_sort<float>(state,
                                 gpu_bench::random_values<float>(state.range(0) * state.range(1)));
}
BENCHMARK(cuda_peer_cub_segmented_sort_float)
    ->Args({20'000, 1000})
    ->Args({20'000, 4000})
    ->Args({4'000, 20'000})
    ->Args({1'000, 100'000})
    ->Unit(benchmark::kMillisecond)
    ->UseManualTime();

}  // namespace
