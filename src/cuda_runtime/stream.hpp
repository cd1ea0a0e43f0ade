#pragma once
// Owning CUDA streams and events, and a guard for the current device.

#include <cuda_runtime_api.h>

#include <utility>

#include "cuda_runtime/cuda_check.hpp"

namespace gpu::cuda {

/// A non-blocking stream of the current device.
class stream {
 public:
  enum class priority { normal, high };

  explicit stream(priority wanted = priority::normal) {
    int least = 0;
    int greatest = 0;
    GPU_SIMILARITY_CUDA_CHECK(cudaDeviceGetStreamPriorityRange(&least, &greatest));
    GPU_SIMILARITY_CUDA_CHECK(cudaStreamCreateWithPriority(
        &stream_, cudaStreamNonBlocking, wanted == priority::high ? greatest : least));
  }
  stream(stream&& other) noexcept : stream_(std::exchange(other.stream_, nullptr)) {}
  stream& operator=(stream&& other) noexcept {
    std::swap(stream_, other.stream_);
    return *this;
  }
  ~stream() {
    if (stream_ != nullptr) static_cast<void>(cudaStreamDestroy(stream_));
  }
  [[nodiscard]] cudaStream_t get() const noexcept { return stream_; }
  void synchronize() const { GPU_SIMILARITY_CUDA_CHECK(cudaStreamSynchronize(stream_)); }

 private:
  cudaStream_t stream_ = nullptr;
};

/// An event without timing.
class event {
 public:
  event() { GPU_SIMILARITY_CUDA_CHECK(cudaEventCreateWithFlags(&event_, cudaEventDisableTiming)); }
  event(event&& other) noexcept : event_(std::exchange(other.event_, nullptr)) {}
  event& operator=(event&& other) noexcept {
    std::swap(event_, other.event_);
    return *this;
  }
  ~event() {
    if (event_ != nullptr) static_cast<void>(cudaEventDestroy(event_));
  }
  [[nodiscard]] cudaEvent_t get() const noexcept { return event_; }

 private:
  cudaEvent_t event_ = nullptr;
};

/// Makes `ordinal` the current device and restores the previous one at the end of the scope.
class device_guard {
 public:
  explicit device_guard(int ordinal) {
    GPU_SIMILARITY_CUDA_CHECK(cudaGetDevice(&previous_));
    GPU_SIMILARITY_CUDA_CHECK(cudaSetDevice(ordinal));
  }
  device_guard(const device_guard&) = delete;
  device_guard& operator=(const device_guard&) = delete;
  ~device_guard() { static_cast<void>(cudaSetDevice(previous_)); }

 private:
  int previous_ = 0;
};

}  // namespace gpu::cuda
