#pragma once
// Uninitialised host memory on cache-line boundaries, as wide vector loads want it. Large blocks
// share the memory of arrays: large pages, kept for the next call.

#include <cstddef>
#include <memory>
#include <new>
#include <type_traits>

#include <gpu/array.hpp>

namespace gpu::cpu {

/// Owns `size` elements of a trivial type, aligned to 64 bytes.
template <class T>
  requires std::is_trivially_copyable_v<T>
class aligned_buffer {
 public:
  aligned_buffer() = default;
  explicit aligned_buffer(std::size_t size)
      : data_(make(size * sizeof(T)), {size * sizeof(T)}), size_(size) {}

  [[nodiscard]] T* data() noexcept { return data_.get(); }
  [[nodiscard]] const T* data() const noexcept { return data_.get(); }
  [[nodiscard]] std::size_t size() const noexcept { return size_; }
  [[nodiscard]] T& operator[](std::size_t i) noexcept { return data_.get()[i]; }
  [[nodiscard]] const T& operator[](std::size_t i) const noexcept { return data_.get()[i]; }

 private:
  static constexpr std::align_val_t alignment{64};
  static constexpr std::size_t least_as_array = std::size_t{1} << 20;

  static T* make(std::size_t bytes) {
    return static_cast<T*>(bytes < least_as_array ? ::operator new(bytes, alignment)
                                                  : detail::resize_storage(nullptr, 0, bytes));
  }
  struct deleter {
    std::size_t bytes = 0;
    void operator()(T* data) const noexcept {
      if (bytes < least_as_array) return ::operator delete(data, alignment);
      detail::free_storage(data, bytes);
    }
  };
  std::unique_ptr<T, deleter> data_;
  std::size_t size_ = 0;
};

}  // namespace gpu::cpu
