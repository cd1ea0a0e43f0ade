#pragma once
// Device memory that one call works in.

#include <cstddef>

#include <gpu/matrix_view.hpp>

#include "cuda_runtime/device_buffer.hpp"
#include "cuda_runtime/memory_cache.hpp"

namespace gpu::cuda {

/// The caller's workspace where there is one, else `bytes` of the stream's pool, which return to it
/// at the end of the scope, after the work put on the stream before.
class scratch {
 public:
  scratch(device_vector_view<std::byte> given, std::size_t bytes, cudaStream_t stream)
      : memory_(given.data()) {
    if (!given.empty() || bytes == 0) return;
    keep_pool_memory();
    own_ = device_buffer<std::byte>(bytes, stream);
    memory_ = own_.data();
  }
  [[nodiscard]] std::byte* data() const noexcept { return memory_; }

 private:
  device_buffer<std::byte> own_;
  std::byte* memory_;
};

}  // namespace gpu::cuda
