#pragma once
// The scratch memory of a call, cut into pieces.

#include <cstddef>

namespace gpu::cuda {

/// Hands out pieces of one block of memory, each aligned to 256 bytes. Without memory it only
/// counts their bytes, so that the same code answers how much a call needs.
class arena {
 public:
  explicit arena(std::byte* memory = nullptr) : memory_(memory) {}

  template <class T>
  T* take(std::size_t count) {
    const std::size_t place = bytes_;
    bytes_ += (count * sizeof(T) + alignment - 1) / alignment * alignment;
    return memory_ == nullptr ? nullptr : reinterpret_cast<T*>(memory_ + place);
  }
  [[nodiscard]] std::size_t bytes() const { return bytes_; }

 private:
  static constexpr std::size_t alignment = 256;
  std::byte* memory_;
  std::size_t bytes_ = 0;
};

}  // namespace gpu::cuda
