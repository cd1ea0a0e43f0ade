#pragma once
// Memory of prepared rows: an engine's own, or a part of rows that are prepared beforehand.

#include <cstddef>
#include <utility>

#include "cuda_runtime/device_buffer.hpp"

namespace gpu::cuda {

template <class T>
class row_buffer {
 public:
  row_buffer() noexcept = default;
  /// Memory of its own.
  row_buffer(std::size_t size, cudaStream_t stream) : row_buffer(device_buffer<T>(size, stream)) {}
  row_buffer(device_buffer<T>&& own)  // NOLINT(google-explicit-constructor): it is that memory
      : own_(std::move(own)), data_(own_.data()), size_(own_.size()) {}
  /// `size` elements that somebody else keeps.
  row_buffer(T* kept, std::size_t size) noexcept : data_(kept), size_(size) {}

  [[nodiscard]] T* data() const noexcept { return data_; }
  [[nodiscard]] std::size_t size() const noexcept { return size_; }
  [[nodiscard]] std::size_t bytes() const noexcept { return size_ * sizeof(T); }

  /// The last elements behind the first `count` ones; this keeps them.
  [[nodiscard]] row_buffer behind(std::size_t count) const {
    return data_ == nullptr ? row_buffer() : row_buffer(data_ + count, size_ - count);
  }

 private:
  device_buffer<T> own_;
  T* data_ = nullptr;
  std::size_t size_ = 0;
};

}  // namespace gpu::cuda
