#pragma once
// The scratch memory of a call, cut into pieces.

#include <concepts>
#include <cstddef>

namespace gpu::cuda {

/// Hands out pieces of one block of device memory, each aligned to 256 bytes from its begin.
/// Without memory it hands out null and only counts the bytes, so that the same code answers how
/// much a call needs.
class arena {
 public:
  explicit arena(void* memory = nullptr) : memory_(static_cast<std::byte*>(memory)) {}

  template <class T, std::integral Count>
  T* take(Count count) {
    const std::size_t place = bytes_;
    const std::size_t wanted = static_cast<std::size_t>(count) * sizeof(T);
    bytes_ += (wanted + alignment - 1) / alignment * alignment;
    return memory_ == nullptr ? nullptr : reinterpret_cast<T*>(memory_ + place);
  }
  [[nodiscard]] std::size_t bytes() const { return bytes_; }

 private:
  static constexpr std::size_t alignment = 256;
  std::byte* memory_;
  std::size_t bytes_ = 0;
};

/// The bytes of what make(arena&) takes.
template <class Make>
std::size_t bytes_taken(const Make& make) {
  arena counting;
  static_cast<void>(make(counting));
  return counting.bytes();
}

}  // namespace gpu::cuda
