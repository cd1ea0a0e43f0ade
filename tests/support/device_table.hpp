#pragma once
// Tables in device memory for tests, and a producer that is late.

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <thread>

#include <gpu/matrix.hpp>
#include <gpu/matrix_view.hpp>

#include "support/device_memory.hpp"

namespace gpu_test {

/// A copy of a host matrix in device memory, its rows `gap` elements further apart than they are
/// long.
template <class T>
class device_table {
 public:
  explicit device_table(const gpu::matrix<T>& from, gpu::index_t gap = 0)
      : device_table(from.rows(), from.cols(), gap) {
    const auto row_bytes = static_cast<std::size_t>(cols_) * sizeof(T);
    if (rows_ == 0 || cols_ == 0) return;
    GPU_TEST_CUDA(cudaMemcpy2D(memory_.data(), static_cast<std::size_t>(cols_ + gap_) * sizeof(T),
                               from.data(), row_bytes, row_bytes, static_cast<std::size_t>(rows_),
                               cudaMemcpyHostToDevice));
    GPU_TEST_CUDA(cudaStreamSynchronize(nullptr));
  }
  device_table(gpu::index_t rows, gpu::index_t cols, gpu::index_t gap = 0)
      : rows_(rows),
        cols_(cols),
        gap_(gap),
        memory_(static_cast<std::size_t>(rows * (cols + gap)) + 1) {
    memory_.set_bytes(0x5a);
  }

  [[nodiscard]] gpu::device_matrix_view<T> view() const {
    return {memory_.data(), rows_, cols_, cols_ + gap_};
  }
  /// What it holds once `stream` has passed.
  [[nodiscard]] gpu::matrix<T> read(cudaStream_t stream = nullptr) const {
    GPU_TEST_CUDA(cudaStreamSynchronize(stream));
    gpu::matrix<T> out(rows_, cols_);
    if (rows_ == 0 || cols_ == 0) return out;
    const auto row_bytes = static_cast<std::size_t>(cols_) * sizeof(T);
    GPU_TEST_CUDA(cudaMemcpy2D(out.data(), row_bytes, memory_.data(),
                               static_cast<std::size_t>(cols_ + gap_) * sizeof(T), row_bytes,
                               static_cast<std::size_t>(rows_), cudaMemcpyDeviceToHost));
    return out;
  }

 private:
  gpu::index_t rows_;
  gpu::index_t cols_;
  gpu::index_t gap_;
  device_array<T> memory_;
};

/// Puts a wait of a tenth of a second on `stream`, and behind it a copy of `from` to `to`.
template <class T>
void produce_late(const T* pinned_from, T* to, std::size_t count, cudaStream_t stream) {
  GPU_TEST_CUDA(cudaLaunchHostFunc(
      stream, [](void*) { std::this_thread::sleep_for(std::chrono::milliseconds(100)); }, nullptr));
  GPU_TEST_CUDA(
      cudaMemcpyAsync(to, pinned_from, count * sizeof(T), cudaMemcpyHostToDevice, stream));
}

/// Page-locked host memory.
template <class T>
class pinned_array {
 public:
  explicit pinned_array(std::size_t size) {
    void* memory = nullptr;
    GPU_TEST_CUDA(cudaMallocHost(&memory, size * sizeof(T) + 1));
    data_ = static_cast<T*>(memory);
  }
  pinned_array(const T* from, std::size_t size) : pinned_array(size) {
    std::copy_n(from, size, data_);
  }
  pinned_array(const pinned_array&) = delete;
  pinned_array& operator=(const pinned_array&) = delete;
  ~pinned_array() { static_cast<void>(cudaFreeHost(data_)); }
  [[nodiscard]] T* data() const { return data_; }

 private:
  T* data_ = nullptr;
};

}  // namespace gpu_test
