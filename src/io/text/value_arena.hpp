#pragma once
// Room for values whose number is known only while they are read.

#include <atomic>
#include <cstddef>
#include <span>

namespace gpu::io {

/// Memory that several threads take pieces from, on large pages where the system has them: a first
/// touch of four kilobytes at a time costs as much as reading the text.
class value_arena {
 public:
  /// Reserves addresses; memory is taken when it is written.
  /// @throw std::bad_alloc
  explicit value_arena(std::size_t capacity_bytes);
  ~value_arena();
  value_arena(value_arena&& other) noexcept;
  value_arena& operator=(value_arena&&) = delete;

  /// Uninitialised room for `count` values. Callable from any thread.
  template <class T>
  [[nodiscard]] std::span<T> take(std::size_t count) {
    return {static_cast<T*>(take_bytes(count * sizeof(T))), count};
  }
  /// The bytes that `pieces` pieces of `bytes` in all can take up.
  [[nodiscard]] static std::size_t capacity_for(std::size_t bytes, std::size_t pieces) {
    return bytes + pieces * alignment;
  }
  /// Gives back the addresses that were not used; nothing may be taken afterwards.
  void trim();

 private:
  static constexpr std::size_t alignment = 64;
  void* take_bytes(std::size_t bytes);

  std::byte* start_ = nullptr;
  std::size_t capacity_ = 0;
  std::atomic<std::size_t> used_{0};
};

/// Asks for large pages behind [data, data + bytes), before it is first written.
void prefer_large_pages(void* data, std::size_t bytes);

}  // namespace gpu::io
