#pragma once
// Uninitialised host memory on cache-line boundaries, as wide vector loads want it; in large pages
// where there is much of it.

#include <cstddef>
#include <memory>
#include <new>
#include <type_traits>

#include "cpu/platform/large_pages.hpp"

namespace gpu::cpu {

/// Owns `size` elements of a trivial type, aligned to 64 bytes.
template <class T>
  requires std::is_trivially_copyable_v<T>
class aligned_buffer {
 public:
  static constexpr std::align_val_t alignment{64};

  aligned_buffer() = default;
  explicit aligned_buffer(std::size_t size)
      : data_(static_cast<T*>(::operator new(size * sizeof(T), alignment))), size_(size) {
    constexpr std::size_t least = std::size_t{16} << 20;
    if (size * sizeof(T) >= least) advise_large_pages(data(), size * sizeof(T));
  }

  [[nodiscard]] T* data() noexcept { return data_.get(); }
  [[nodiscard]] const T* data() const noexcept { return data_.get(); }
  [[nodiscard]] std::size_t size() const noexcept { return size_; }
  [[nodiscard]] T& operator[](std::size_t i) noexcept { return data_.get()[i]; }
  [[nodiscard]] const T& operator[](std::size_t i) const noexcept { return data_.get()[i]; }

 private:
  struct deleter {
    void operator()(T* data) const noexcept { ::operator delete(data, alignment); }
  };
  std::unique_ptr<T, deleter> data_;
  std::size_t size_ = 0;
};

}  // namespace gpu::cpu
