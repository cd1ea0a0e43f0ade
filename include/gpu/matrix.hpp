#pragma once
/// @file
/// An owning, dense, row-major host matrix.

#include <algorithm>
#include <new>
#include <span>
#include <utility>
#include <vector>

#include <gpu/array.hpp>
#include <gpu/matrix_view.hpp>

namespace gpu {
inline namespace v0 {

namespace detail {
/// rows * cols as a size, or gpu::invalid_argument / gpu::out_of_memory where it is negative or
/// does not fit memory.
GPU_SIMILARITY_EXPORT std::size_t checked_element_count(index_t rows, index_t cols,
                                                        std::size_t element_bytes);
/// gpu::out_of_memory for [rows, cols] elements of `element_bytes` each.
[[noreturn]] GPU_SIMILARITY_EXPORT void throw_no_memory_for(index_t rows, index_t cols,
                                                            std::size_t element_bytes);

/// [rows, cols] uninitialised elements.
template <class T>
array<T> new_elements(index_t rows, index_t cols) {
  const std::size_t count = checked_element_count(rows, cols, sizeof(T));
  try {
    return array<T>(count);
  } catch (const std::bad_alloc&) {
    throw_no_memory_for(rows, cols, sizeof(T));
  }
}

/// `size` elements of value 0.
template <class T>
std::vector<T> new_vector(index_t size) {
  const std::size_t count = checked_element_count(1, size, sizeof(T));
  try {
    return std::vector<T>(count);
  } catch (const std::bad_alloc&) {
    throw_no_memory_for(1, size, sizeof(T));
  }
}
}  // namespace detail

/// Owns [rows, cols] elements, row-major without padding. Movable, not copyable: a copy of a
/// large result should be visible in the code; `clone()` makes one.
template <class T>
class matrix {
 public:
  /// Type of an element.
  using value_type = T;

  /// An empty matrix, [0, 0].
  matrix() noexcept = default;

  /// Uninitialised elements: every function that returns a matrix writes each of them.
  /// @throw gpu::invalid_argument for negative extents; gpu::out_of_memory where it does not fit.
  matrix(index_t rows, index_t cols)
      : data_(detail::new_elements<T>(rows, cols)), rows_(rows), cols_(cols) {}

  /// The same for extents of any integer type, as std::size_t.
  template <class Rows, class Cols>
    requires detail::other_extents<Rows, Cols>
  matrix(Rows rows, Cols cols) : matrix(detail::to_index(rows), detail::to_index(cols)) {}

  /// Takes the elements; `other` is empty afterwards.
  matrix(matrix&& other) noexcept
      : data_(std::move(other.data_)),
        rows_(std::exchange(other.rows_, 0)),
        cols_(std::exchange(other.cols_, 0)) {}
  /// Takes the elements; `other` is empty afterwards.
  matrix& operator=(matrix&& other) noexcept {
    data_ = std::move(other.data_);
    rows_ = std::exchange(other.rows_, 0);
    cols_ = std::exchange(other.cols_, 0);
    return *this;
  }

  /// A copy of all elements.
  [[nodiscard]] matrix clone() const {
    matrix copy(rows_, cols_);
    std::copy(data_.data(), data_.data() + rows_ * cols_, copy.data_.data());
    return copy;
  }

  /// Element (0, 0).
  [[nodiscard]] T* data() noexcept { return data_.data(); }
  /// Element (0, 0).
  [[nodiscard]] const T* data() const noexcept { return data_.data(); }
  /// Number of rows.
  [[nodiscard]] index_t rows() const noexcept { return rows_; }
  /// Number of columns.
  [[nodiscard]] index_t cols() const noexcept { return cols_; }
  /// Elements from one row to the next: cols().
  [[nodiscard]] index_t row_stride() const noexcept { return cols_; }
  /// Whether there is no element.
  [[nodiscard]] bool empty() const noexcept { return rows_ == 0 || cols_ == 0; }

  /// Element (i, j); no range check.
  [[nodiscard]] T& operator()(index_t i, index_t j) noexcept { return data_[offset(i, j)]; }
  /// Element (i, j); no range check.
  [[nodiscard]] const T& operator()(index_t i, index_t j) const noexcept {
    return data_[offset(i, j)];
  }
  /// Row i; no range check.
  [[nodiscard]] std::span<T> row(index_t i) noexcept {
    return {data_.data() + i * cols_, static_cast<std::size_t>(cols_)};
  }
  /// Row i; no range check.
  [[nodiscard]] std::span<const T> row(index_t i) const noexcept {
    return {data_.data() + i * cols_, static_cast<std::size_t>(cols_)};
  }

  /// The whole matrix.
  [[nodiscard]] matrix_view<T> view() noexcept { return {data_.data(), rows_, cols_}; }
  /// The whole matrix, read only.
  [[nodiscard]] matrix_view<const T> view() const noexcept { return {data_.data(), rows_, cols_}; }

 private:
  [[nodiscard]] std::size_t offset(index_t i, index_t j) const noexcept {
    return static_cast<std::size_t>(i * cols_ + j);
  }

  array<T> data_;
  index_t rows_ = 0;
  index_t cols_ = 0;
};

}  // namespace v0
}  // namespace gpu
