#pragma once
// Owning memory of the CUDA backend: device buffers ordered on a stream, and pinned host buffers.

#include <cuda_runtime_api.h>

#include <cstddef>
#include <utility>

#include "cuda_runtime/cuda_check.hpp"
#include "cuda_runtime/memory_cache.hpp"

namespace gpu::cuda {

/// Uninitialised device memory for `size` elements, taken from and returned to the stream's
/// memory pool: allocation and release are ordered on the stream and do not synchronise.
template <class T>
class device_buffer {
 public:
  device_buffer() noexcept = default;
  device_buffer(std::size_t size, cudaStream_t stream) : size_(size), stream_(stream) {
    if (size == 0) return;
    void* memory = nullptr;
    const cudaError_t status = cudaMallocAsync(&memory, size * sizeof(T), stream);
    if (status != cudaSuccess) {
      throw_cuda_error(status, "cudaMallocAsync", __FILE__, __LINE__, size * sizeof(T));
    }
    data_ = static_cast<T*>(memory);
  }
  device_buffer(device_buffer&& other) noexcept
      : data_(std::exchange(other.data_, nullptr)),
        size_(std::exchange(other.size_, 0)),
        stream_(other.stream_) {}
  device_buffer& operator=(device_buffer&& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
    std::swap(stream_, other.stream_);
    return *this;
  }
  ~device_buffer() {
    // A failure here means that the context is lost; the next checked call reports it.
    if (data_ != nullptr) static_cast<void>(cudaFreeAsync(data_, stream_));
  }

  [[nodiscard]] T* data() const noexcept { return data_; }
  [[nodiscard]] std::size_t size() const noexcept { return size_; }
  [[nodiscard]] std::size_t bytes() const noexcept { return size_ * sizeof(T); }

 private:
  T* data_ = nullptr;
  std::size_t size_ = 0;
  cudaStream_t stream_ = nullptr;
};

/// A device buffer of zeros, ordered on the stream.
template <class T>
device_buffer<T> zeroed(std::size_t size, cudaStream_t stream) {
  device_buffer<T> buffer(size, stream);
  GPU_SIMILARITY_CUDA_CHECK(cudaMemsetAsync(buffer.data(), 0, buffer.bytes(), stream));
  return buffer;
}

/// Page-locked host memory for `size` elements: copies to and from it overlap with kernels. They
/// must have ended before its end, unless by an exception.
template <class T>
class pinned_buffer {
 public:
  pinned_buffer() noexcept = default;
  explicit pinned_buffer(std::size_t size) : size_(size) {
    if (size != 0) data_ = static_cast<T*>(take_pinned(size * sizeof(T)));
  }
  pinned_buffer(pinned_buffer&& other) noexcept
      : data_(std::exchange(other.data_, nullptr)), size_(std::exchange(other.size_, 0)) {}
  pinned_buffer& operator=(pinned_buffer&& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
    return *this;
  }
  ~pinned_buffer() {
    if (data_ != nullptr) give_back_pinned(data_, size_ * sizeof(T));
  }

  [[nodiscard]] T* data() const noexcept { return data_; }
  [[nodiscard]] std::size_t size() const noexcept { return size_; }

 private:
  T* data_ = nullptr;
  std::size_t size_ = 0;
};

}  // namespace gpu::cuda
