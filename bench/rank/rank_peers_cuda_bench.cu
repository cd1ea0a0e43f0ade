// Ranking on a GPU, device-resident, over shapes, types and kinds of values beside CUB's two
// segmented sorts of (key, column), which do only the sorting part of it. Values are made on the
// device, so that all cases take some 20 seconds.
#include <thrust/iterator/counting_iterator.h>
#include <thrust/iterator/transform_iterator.h>
#include <cub/device/device_segmented_radix_sort.cuh>
#include <cub/device/device_segmented_sort.cuh>

#include <array>

#include "common/cuda_timing.hpp"
#include "kernels/rank/kernels.hpp"

namespace {

using gpu_bench::device_array;

enum class values : std::int64_t { normal, counts, equal, nearly_sorted };
constexpr std::array<const char*, 4> value_names{"normal", "counts", "equal", "nearly sorted"};

/// A value of a row from the number of its element alone.
template <class T>
__device__ T value_of(values kind, std::int64_t at, std::int64_t cols) {
  std::uint64_t bits = static_cast<std::uint64_t>(at) * 0x9e3779b97f4a7c15U;
  bits = (bits ^ (bits >> 30)) * 0xbf58476d1ce4e5b9U;
  bits = (bits ^ (bits >> 27)) * 0x94d049bb133111ebU;
  bits ^= bits >> 31;
  const double uniform = (static_cast<double>(bits >> 32) + 0.5) / 4294967296.0;
  const double other = static_cast<double>(bits & 0xffffffffU) / 4294967296.0;
  switch (kind) {
    case values::normal:
      // Of an integer type: the same, over most of its range.
      return static_cast<T>((T(0.5) == T{0} ? 3e8 : 1.0) * sqrt(-2 * log(uniform)) *
                            cospi(2 * other));
    case values::counts:
      return static_cast<T>(floor(-8 * log(uniform)));
    case values::equal:
      return T{7};
    case values::nearly_sorted:
      return static_cast<T>(static_cast<double>(at % cols) + 20 * uniform);
  }
  return T{};
}

template <class T>
__global__ void fill(T* data, std::int64_t size, std::int64_t cols, values kind) {
  const std::int64_t at = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (at < size) data[at] = value_of<T>(kind, at, cols);
}

/// The rows of a case: {rows, columns, kind}.
template <class T>
device_array<T> rows_of(const benchmark::State& state) {
  device_array<T> data(static_cast<std::size_t>(state.range(0) * state.range(1)));
  const auto size = static_cast<std::int64_t>(data.size());
  fill<T><<<static_cast<unsigned>((size + 255) / 256), 256>>>(data.data(), size, state.range(1),
                                                              static_cast<values>(state.range(2)));
  gpu_bench::check(cudaDeviceSynchronize());
  return data;
}

void report(benchmark::State& state) {
  state.SetLabel(value_names[static_cast<std::size_t>(state.range(2))]);
  gpu_bench::report_items(state, state.range(0) * state.range(1));
}

/// Average ranks as doubles, by the public call.
template <class T>
void cuda_rank_rows(benchmark::State& state) {
  const std::int64_t rows = state.range(0);
  const std::int64_t cols = state.range(1);
  const device_array<T> data = rows_of<T>(state);
  const device_array<double> ranks(data.size());
  gpu_bench::time_on_device(state, [&](cudaStream_t stream) {
    gpu::rank_rows(gpu::device_matrix_view<const T>(data.data(), rows, cols),
                   gpu::device_matrix_view<double>(ranks.data(), rows, cols),
                   {.exec = {.stream = stream}});
  });
  report(state);
}

template <class T, class Integer>
void time_centred_ranks(benchmark::State& state) {
  const std::int64_t rows = state.range(0);
  const std::int64_t cols = state.range(1);
  const std::int64_t pitch = (cols + 31) / 32 * 32;
  const device_array<T> data = rows_of<T>(state);
  const device_array<Integer> ranks(static_cast<std::size_t>(rows * pitch));
  const device_array<std::int64_t> sums(static_cast<std::size_t>(rows));
  gpu_bench::time_on_device(state, [&](cudaStream_t stream) {
    gpu::kernels::launch_centred_ranks<T, Integer>(
        {data.data(), rows, cols}, {ranks.data(), rows, pitch}, sums.data(), stream);
  });
  report(state);
}

/// Packed integer ranks, as Spearman's correlation takes them.
template <class T>
void cuda_packed_ranks(benchmark::State& state) {
  if (state.range(1) <= 128) return time_centred_ranks<T, std::int8_t>(state);
  if (state.range(1) <= 32768) return time_centred_ranks<T, std::int16_t>(state);
  time_centred_ranks<T, std::int32_t>(state);
}

struct row_start {
  std::int64_t cols;
  __host__ __device__ std::int64_t operator()(std::int64_t row) const { return row * cols; }
};

/// sort(temporary, bytes, keys in, keys out, columns in, columns out, row borders, stream).
template <class T, class Sort>
void time_cub(benchmark::State& state, const Sort& sort) {
  const device_array<T> keys = rows_of<T>(state);
  const device_array<T> sorted_keys(keys.size());
  const device_array<std::uint32_t> columns(keys.size());
  const device_array<std::uint32_t> sorted_columns(keys.size());
  const auto borders = thrust::make_transform_iterator(
      thrust::make_counting_iterator(std::int64_t{0}), row_start{state.range(1)});
  const auto call = [&](void* temporary, std::size_t& bytes, cudaStream_t stream) {
    gpu_bench::check(sort(temporary, bytes, keys.data(), sorted_keys.data(), columns.data(),
                          sorted_columns.data(), borders, stream));
  };
  std::size_t bytes = 0;
  call(nullptr, bytes, nullptr);
  const device_array<std::byte> temporary(bytes);
  gpu_bench::time_on_device(state,
                            [&](cudaStream_t stream) { call(temporary.data(), bytes, stream); });
  report(state);
}

template <class T>
void cuda_peer_cub_segmented_sort(benchmark::State& state) {
  time_cub<T>(state, [&](void* temporary, std::size_t& bytes, auto... rest) {
    const auto sort = [&](const T* in, T* out, const std::uint32_t* columns,
                          std::uint32_t* sorted_columns, auto borders, cudaStream_t stream) {
      return cub::DeviceSegmentedSort::SortPairs(temporary, bytes, in, out, columns, sorted_columns,
                                                 static_cast<int>(state.range(0) * state.range(1)),
                                                 static_cast<int>(state.range(0)), borders,
                                                 borders + 1, stream);
    };
    return sort(rest...);
  });
}

template <class T>
void cuda_peer_cub_segmented_radix_sort(benchmark::State& state) {
  constexpr int bits = static_cast<int>(sizeof(T)) * 8;
  time_cub<T>(state, [&](void* temporary, std::size_t& bytes, auto... rest) {
    const auto sort = [&](const T* in, T* out, const std::uint32_t* columns,
                          std::uint32_t* sorted_columns, auto borders, cudaStream_t stream) {
      return cub::DeviceSegmentedRadixSort::SortPairs(
          temporary, bytes, in, out, columns, sorted_columns,
          static_cast<int>(state.range(0) * state.range(1)), static_cast<int>(state.range(0)),
          borders, borders + 1, 0, bits, stream);
    };
    return sort(rest...);
  });
}

using shape = std::array<std::int64_t, 2>;

void run(benchmark::internal::Benchmark* benchmark) {
  benchmark->Unit(benchmark::kMillisecond)->UseManualTime()->MinTime(0.03);
}

void float_cases(benchmark::internal::Benchmark* benchmark) {
  for (const auto& [rows, cols] :
       {shape{1'000'000, 30}, shape{300'000, 130}, shape{150'000, 256}, shape{80'000, 512},
        shape{60'000, 1000}, shape{20'000, 2000}, shape{20'000, 4000}, shape{8000, 8192},
        shape{8000, 8193}, shape{5000, 20'000}, shape{2000, 40'000}, shape{1000, 100'000},
        shape{300, 300'000}, shape{100, 1'000'000}, shape{8, 10'000'000}, shape{1000, 10'000},
        shape{40, 20'000}, shape{4, 100'000}, shape{1, 1'000'000}}) {
    benchmark->Args({rows, cols, static_cast<std::int64_t>(values::normal)});
  }
  for (const values kind : {values::counts, values::equal, values::nearly_sorted}) {
    for (const auto& [rows, cols] :
         {shape{20'000, 1000}, shape{20'000, 4000}, shape{5000, 20'000}, shape{1000, 100'000}}) {
      benchmark->Args({rows, cols, static_cast<std::int64_t>(kind)});
    }
  }
  run(benchmark);
}

void double_cases(benchmark::internal::Benchmark* benchmark) {
  for (const auto& [rows, cols] :
       {shape{300'000, 30}, shape{100'000, 128}, shape{50'000, 256}, shape{20'000, 1000},
        shape{10'000, 4000}, shape{10'000, 4097}, shape{2000, 20'000}, shape{500, 100'000},
        shape{50, 1'000'000}}) {
    benchmark->Args({rows, cols, static_cast<std::int64_t>(values::normal)});
  }
  benchmark->Args({500, 100'000, static_cast<std::int64_t>(values::counts)});
  run(benchmark);
}

void int_cases(benchmark::internal::Benchmark* benchmark) {
  for (const values kind : {values::normal, values::counts}) {
    for (const auto& [rows, cols] : {shape{20'000, 4000}, shape{1000, 100'000}}) {
      benchmark->Args({rows, cols, static_cast<std::int64_t>(kind)});
    }
  }
  run(benchmark);
}

BENCHMARK_TEMPLATE(cuda_packed_ranks, float)->Apply(float_cases);
BENCHMARK_TEMPLATE(cuda_rank_rows, float)->Apply(float_cases);
BENCHMARK_TEMPLATE(cuda_peer_cub_segmented_sort, float)->Apply(float_cases);
BENCHMARK_TEMPLATE(cuda_peer_cub_segmented_radix_sort, float)->Apply(float_cases);
BENCHMARK_TEMPLATE(cuda_packed_ranks, double)->Apply(double_cases);
BENCHMARK_TEMPLATE(cuda_rank_rows, double)->Apply(double_cases);
BENCHMARK_TEMPLATE(cuda_peer_cub_segmented_sort, double)->Apply(double_cases);
BENCHMARK_TEMPLATE(cuda_peer_cub_segmented_radix_sort, double)->Apply(double_cases);
BENCHMARK_TEMPLATE(cuda_packed_ranks, int)->Apply(int_cases);
BENCHMARK_TEMPLATE(cuda_rank_rows, int)->Apply(int_cases);
BENCHMARK_TEMPLATE(cuda_peer_cub_segmented_sort, int)->Apply(int_cases);
BENCHMARK_TEMPLATE(cuda_peer_cub_segmented_radix_sort, int)->Apply(int_cases);

}  // namespace
