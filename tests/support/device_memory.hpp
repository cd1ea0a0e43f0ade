#pragma once
// Device memory and streams for tests that call the device overloads.

#include <cuda_runtime_api.h>

#include <cstddef>
#include <stdexcept>
#include <string>

namespace gpu_test {

inline void require_cuda(cudaError_t status, const char* call) {
  if (status != cudaSuccess) {
    throw std::runtime_error(std::string(call) + ": " + cudaGetErrorString(status));
  }
}
#define GPU_TEST_CUDA(call) ::gpu_test::require_cuda((call), #call)

/// Elements in device memory, copied from and to the host.
template <class T>
class device_array {
 public:
  explicit device_array(std::size_t size) : size_(size) {
    if (size == 0) return;
    void* memory = nullptr;
    GPU_TEST_CUDA(cudaMalloc(&memory, size * sizeof(T)));
    data_ = static_cast<T*>(memory);
  }
  device_array(const T* from, std::size_t size) : device_array(size) { set(from); }
  device_array(const device_array&) = delete;
  device_array& operator=(const device_array&) = delete;
  ~device_array() { static_cast<void>(cudaFree(data_)); }

  [[nodiscard]] T* data() const { return data_; }
  [[nodiscard]] std::size_t size() const { return size_; }
  // Both wait: cudaMemcpy may return once elements are staged and cudaMemset at once, and the
  // streams of the tests do not wait for the default one.
  void set(const T* from) const {
    if (size_ == 0) return;
    GPU_TEST_CUDA(cudaMemcpy(data_, from, size_ * sizeof(T), cudaMemcpyHostToDevice));
    GPU_TEST_CUDA(cudaStreamSynchronize(nullptr));
  }
  void set_bytes(int value) const {
    GPU_TEST_CUDA(cudaMemset(data_, value, size_ * sizeof(T)));
    GPU_TEST_CUDA(cudaStreamSynchronize(nullptr));
  }
  void copy_to(T* to) const {
    if (size_ > 0) GPU_TEST_CUDA(cudaMemcpy(to, data_, size_ * sizeof(T), cudaMemcpyDeviceToHost));
  }

 private:
  T* data_ = nullptr;
  std::size_t size_ = 0;
};

/// A stream that does not wait for the default one.
class test_stream {
 public:
  test_stream() { GPU_TEST_CUDA(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking)); }
  test_stream(const test_stream&) = delete;
  test_stream& operator=(const test_stream&) = delete;
  ~test_stream() { static_cast<void>(cudaStreamDestroy(stream_)); }
  [[nodiscard]] cudaStream_t get() const { return stream_; }
  void synchronize() const { GPU_TEST_CUDA(cudaStreamSynchronize(stream_)); }

 private:
  cudaStream_t stream_ = nullptr;
};

}  // namespace gpu_test
