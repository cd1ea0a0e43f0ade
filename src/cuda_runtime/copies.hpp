#pragma once
// Copies of arrays, wherever they are, and the wait for those under way.

#include <cuda_runtime_api.h>

#include <concepts>
#include <cstddef>
#include <span>
#include <type_traits>

#include "cuda_runtime/cuda_check.hpp"
#include "cuda_runtime/device_buffer.hpp"

namespace gpu::cuda {

/// Begins to copy `count` elements.
template <class T, std::integral Count>
void copy_elements(T* to, const std::type_identity_t<T>* from, Count count, cudaStream_t stream) {
  if (count == 0) return;
  GPU_SIMILARITY_CUDA_CHECK(cudaMemcpyAsync(to, from, static_cast<std::size_t>(count) * sizeof(T),
                                            cudaMemcpyDefault, stream));
}

/// Copies to the host and waits.
template <class T, std::integral Count>
void read_back(T* out, const std::type_identity_t<T>* from, Count count, cudaStream_t stream) {
  copy_elements(out, from, count, stream);
  GPU_SIMILARITY_CUDA_CHECK(cudaStreamSynchronize(stream));
}
template <class T>
T read_back(const T* from, cudaStream_t stream) {
  T out{};
  read_back(&out, from, 1, stream);
  return out;
}

/// A copy in device memory of what is in pageable host memory, which may go once this returns.
template <class T>
device_buffer<std::remove_const_t<T>> upload(std::span<T> from, cudaStream_t stream) {
  device_buffer<std::remove_const_t<T>> out(from.size(), stream);
  copy_elements(out.data(), from.data(), from.size(), stream);
  return out;
}

/// Waits for a stream before what its work uses goes out of scope, be it by an exception.
class stream_guard {
 public:
  explicit stream_guard(cudaStream_t stream) : stream_(stream) {}
  ~stream_guard() { static_cast<void>(cudaStreamSynchronize(stream_)); }
  stream_guard(const stream_guard&) = delete;
  stream_guard& operator=(const stream_guard&) = delete;

 private:
  cudaStream_t stream_;
};

}  // namespace gpu::cuda
