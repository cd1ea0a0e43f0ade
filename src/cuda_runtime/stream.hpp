#pragma once
// Owning CUDA streams and events, and a guard for the current device.

#include <cuda_runtime_api.h>

#include <utility>

#include "cuda_runtime/cuda_check.hpp"

namespace gpu::cuda {

/// What handles have in common that can stand for each other.
struct handle_kind {
  int device = 0;
  int priority = 0;
  friend bool operator==(const handle_kind&, const handle_kind&) = default;
};

/// A non-blocking stream of the current device: one that was given back before, or a new one. To
/// make and to end one takes the driver longer than a small call.
class stream {
 public:
  enum class priority { normal, high };

  explicit stream(priority wanted = priority::normal);
  stream(stream&& other) noexcept
      : stream_(std::exchange(other.stream_, nullptr)), kind_(other.kind_) {}
  stream& operator=(stream&& other) noexcept {
    std::swap(stream_, other.stream_);
    std::swap(kind_, other.kind_);
    return *this;
  }
  /// Gives it back, unless an exception unwinds the stack: its work may have failed.
  ~stream();
  [[nodiscard]] cudaStream_t get() const noexcept { return stream_; }
  void synchronize() const { GPU_SIMILARITY_CUDA_CHECK(cudaStreamSynchronize(stream_)); }

 private:
  cudaStream_t stream_ = nullptr;
  handle_kind kind_;
};

/// An event without timing, as stream. Before it is recorded it may stand for work of an earlier
/// call, which has ended or soon does.
class event {
 public:
  event();
  event(event&& other) noexcept
      : event_(std::exchange(other.event_, nullptr)), kind_(other.kind_) {}
  event& operator=(event&& other) noexcept {
    std::swap(event_, other.event_);
    std::swap(kind_, other.kind_);
    return *this;
  }
  ~event();
  [[nodiscard]] cudaEvent_t get() const noexcept { return event_; }

 private:
  cudaEvent_t event_ = nullptr;
  handle_kind kind_;
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
