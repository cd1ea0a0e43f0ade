#pragma once
/// @file
/// A growing array of plain values for large results.

#include <algorithm>
#include <cstddef>
#include <initializer_list>
#include <limits>
#include <new>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include <gpu/export.hpp>

namespace gpu {
inline namespace v0 {

namespace detail {
/// Changes the size of memory from here (null and 0: nothing yet) to `bytes`, at least 1, in place
/// or by moving its pages: large blocks are not copied, and pages that nobody wrote to take no
/// memory.
/// @throw std::bad_alloc with the old memory as it was.
GPU_SIMILARITY_EXPORT void* resize_storage(void* memory, std::size_t old_bytes, std::size_t bytes);
/// Gives memory of resize_storage back; nothing for null.
GPU_SIMILARITY_EXPORT void free_storage(void* memory, std::size_t bytes) noexcept;
}  // namespace detail

/// A contiguous array like std::vector, of values that are copied as bytes. New elements are left
/// uninitialised, so that many threads can write them first, and growing moves pages instead of
/// elements: an array of many gigabytes never needs twice its memory.
template <class T>
  requires std::is_trivially_copyable_v<T>
class array {
  static_assert(alignof(T) <= alignof(std::max_align_t));

 public:
  /// The element.
  using value_type = T;
  /// Of counts and places.
  using size_type = std::size_t;
  /// Of distances between places.
  using difference_type = std::ptrdiff_t;
  /// An element.
  using reference = T&;
  /// An element that is only read.
  using const_reference = const T&;
  /// Walks over the elements.
  using iterator = T*;
  /// Walks over elements that are only read.
  using const_iterator = const T*;

  /// No elements.
  array() noexcept = default;
  /// `size` elements, uninitialised.
  explicit array(std::size_t size) { resize(size); }
  /// A copy of the elements of `values`.
  explicit array(std::span<const T> values) { append(values); }
  /// A copy of the elements of `values`.
  array(std::initializer_list<T> values) { append({values.begin(), values.size()}); }
  /// A copy.
  array(const array& other) { append(other); }
  /// Takes the elements of `other`, which is empty then.
  array(array&& other) noexcept
      : data_(std::exchange(other.data_, nullptr)),
        size_(std::exchange(other.size_, 0)),
        capacity_(std::exchange(other.capacity_, 0)) {}
  /// Becomes a copy.
  array& operator=(const array& other) {
    if (this != &other) array(other).swap(*this);
    return *this;
  }
  /// Takes the elements of `other`.
  array& operator=(array&& other) noexcept {
    array(std::move(other)).swap(*this);
    return *this;
  }
  ~array() { detail::free_storage(data_, capacity_ * sizeof(T)); }

  /// Exchanges the elements of two arrays.
  void swap(array& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
    std::swap(capacity_, other.capacity_);
  }

  /// The first element; null where there is none.
  [[nodiscard]] T* data() noexcept { return data_; }
  /// The first element; null where there is none.
  [[nodiscard]] const T* data() const noexcept { return data_; }
  /// Elements.
  [[nodiscard]] std::size_t size() const noexcept { return size_; }
  /// Elements that there is room for.
  [[nodiscard]] std::size_t capacity() const noexcept { return capacity_; }
  /// Whether there is no element.
  [[nodiscard]] bool empty() const noexcept { return size_ == 0; }
  /// The first element.
  [[nodiscard]] T* begin() noexcept { return data_; }
  /// Behind the last element.
  [[nodiscard]] T* end() noexcept { return data_ + size_; }
  /// The first element.
  [[nodiscard]] const T* begin() const noexcept { return data_; }
  /// Behind the last element.
  [[nodiscard]] const T* end() const noexcept { return data_ + size_; }
  /// Element `at`, less than size().
  [[nodiscard]] T& operator[](std::size_t at) noexcept { return data_[at]; }
  /// Element `at`, less than size().
  [[nodiscard]] const T& operator[](std::size_t at) const noexcept { return data_[at]; }
  /// The first element; there must be one.
  [[nodiscard]] T& front() noexcept { return data_[0]; }
  /// The first element; there must be one.
  [[nodiscard]] const T& front() const noexcept { return data_[0]; }
  /// The last element; there must be one.
  [[nodiscard]] T& back() noexcept { return data_[size_ - 1]; }
  /// The last element; there must be one.
  [[nodiscard]] const T& back() const noexcept { return data_[size_ - 1]; }

  /// Makes room for `capacity` elements. Room that is never written to takes no memory where it is
  /// large.
  void reserve(std::size_t capacity) {
    if (capacity > capacity_) set_capacity(capacity);
  }
  /// Gives back the room behind the last element.
  void shrink_to_fit() {
    if (size_ == 0) {
      array().swap(*this);
    } else if (capacity_ > size_) {
      set_capacity(size_);
    }
  }
  /// Makes it `size` elements; new ones are uninitialised.
  void resize(std::size_t size) {
    if (size > capacity_) set_capacity(std::max(size, capacity_ + capacity_ / 2));
    size_ = size;
  }
  /// Makes it empty and keeps the room.
  void clear() noexcept { size_ = 0; }
  /// Adds copies of `values`, which are not elements of this array.
  void append(std::span<const T> values) {
    const std::size_t before = size_;
    resize(before + values.size());
    std::copy(values.begin(), values.end(), data_ + before);
  }
  /// Adds one element.
  void push_back(T value) {
    resize(size_ + 1);
    data_[size_ - 1] = value;
  }

  /// A copy as a std::vector.
  [[nodiscard]] std::vector<T> to_vector() const { return {begin(), end()}; }
  /// The same, asked for by name: no call copies an array unseen.
  explicit operator std::vector<T>() const { return to_vector(); }

  /// Whether both hold equal elements in the same order.
  friend bool operator==(const array& a, const array& b) {
    return std::equal(a.begin(), a.end(), b.begin(), b.end());
  }
  /// Whether both hold equal elements in the same order.
  friend bool operator==(const array& a, const std::vector<T>& b) {
    return std::equal(a.begin(), a.end(), b.begin(), b.end());
  }

 private:
  void set_capacity(std::size_t capacity) {
    if (capacity > std::numeric_limits<std::ptrdiff_t>::max() / sizeof(T)) throw std::bad_alloc();
    data_ =
        static_cast<T*>(detail::resize_storage(data_, capacity_ * sizeof(T), capacity * sizeof(T)));
    capacity_ = capacity;
  }

  T* data_ = nullptr;
  std::size_t size_ = 0;
  std::size_t capacity_ = 0;
};

}  // namespace v0
}  // namespace gpu
