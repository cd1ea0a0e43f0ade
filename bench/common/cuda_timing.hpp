#pragma once
// CUDA under Google Benchmark: device memory, and iterations timed by events with a cold L2.
//
//   void bench_something(benchmark::State& state) {
//     const gpu_bench::device_array<float> in(gpu_bench::random_values<float>(n));
//     gpu_bench::time_on_device(state, [&](cudaStream_t stream) { ... launch on stream ... });
//     gpu_bench::report_bytes(state, bytes_per_iteration);
//   }
//   BENCHMARK(bench_something)->UseManualTime();

#include <benchmark/benchmark.h>
#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace gpu_bench {

inline void check(cudaError_t status) {
  if (status != cudaSuccess) {
    throw std::runtime_error(std::string("CUDA: ") + cudaGetErrorString(status));
  }
}

/// Whether a CUDA device can be used.
inline bool has_device() {
  int count = 0;
  return cudaGetDeviceCount(&count) == cudaSuccess && count > 0;
}

/// Device memory for `size` elements.
template <class T>
class device_array {
 public:
  explicit device_array(std::size_t size) : size_(size) {
    void* memory = nullptr;
    check(cudaMalloc(&memory, size * sizeof(T)));
    data_ = static_cast<T*>(memory);
  }
  /// A copy of host data.
  explicit device_array(const std::vector<T>& values) : device_array(values.size()) {
    check(cudaMemcpy(data_, values.data(), bytes(), cudaMemcpyHostToDevice));
  }
  device_array(device_array&& other) noexcept
      : data_(std::exchange(other.data_, nullptr)), size_(std::exchange(other.size_, 0)) {}
  device_array& operator=(device_array&& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
    return *this;
  }
  ~device_array() { static_cast<void>(cudaFree(data_)); }

  [[nodiscard]] T* data() const noexcept { return data_; }
  [[nodiscard]] std::size_t size() const noexcept { return size_; }
  [[nodiscard]] std::size_t bytes() const noexcept { return size_ * sizeof(T); }
  [[nodiscard]] std::vector<T> to_host() const {
    std::vector<T> values(size_);
    check(cudaMemcpy(values.data(), data_, bytes(), cudaMemcpyDeviceToHost));
    return values;
  }

 private:
  T* data_ = nullptr;
  std::size_t size_ = 0;
};

/// A stream with a pair of timing events and memory enough to displace the L2.
class device_timer {
 public:
  device_timer() {
    int device = 0;
    int l2_bytes = 0;
    check(cudaGetDevice(&device));
    check(cudaDeviceGetAttribute(&l2_bytes, cudaDevAttrL2CacheSize, device));
    flush_ = device_array<std::byte>(2 * static_cast<std::size_t>(l2_bytes) + 1);
    check(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking));
    check(cudaEventCreate(&start_));
    check(cudaEventCreate(&stop_));
  }
  device_timer(const device_timer&) = delete;
  device_timer& operator=(const device_timer&) = delete;
  ~device_timer() {
    static_cast<void>(cudaEventDestroy(stop_));
    static_cast<void>(cudaEventDestroy(start_));
    static_cast<void>(cudaStreamDestroy(stream_));
  }

  [[nodiscard]] cudaStream_t stream() const noexcept { return stream_; }

  /// Seconds on the device from the first to the last thing that body(stream) puts on the stream.
  template <class Body>
  double time(Body&& body) {
    check(cudaMemsetAsync(flush_.data(), 0, flush_.bytes(), stream_));
    check(cudaEventRecord(start_, stream_));
    body(stream_);
    check(cudaEventRecord(stop_, stream_));
    check(cudaEventSynchronize(stop_));
    float milliseconds = 0;
    check(cudaEventElapsedTime(&milliseconds, start_, stop_));
    return static_cast<double>(milliseconds) * 1e-3;
  }

 private:
  device_array<std::byte> flush_{1};
  cudaStream_t stream_ = nullptr;
  cudaEvent_t start_ = nullptr;
  cudaEvent_t stop_ = nullptr;
};

/// The benchmark's loop: body(stream) once untimed, then once per iteration with a cold L2.
/// For benchmarks registered with UseManualTime().
template <class Body>
void time_on_device(benchmark::State& state, Body&& body) {
  device_timer timer;
  static_cast<void>(timer.time(body));
  for (auto _ : state) state.SetIterationTime(timer.time(body));
}

/// Bytes read and written per iteration, shown per second.
inline void report_bytes(benchmark::State& state, std::int64_t bytes) {
  state.SetBytesProcessed(state.iterations() * bytes);
}

/// Work items per iteration (pairs, elements, operations), shown per second.
inline void report_items(benchmark::State& state, std::int64_t items) {
  state.SetItemsProcessed(state.iterations() * items);
}

}  // namespace gpu_bench
