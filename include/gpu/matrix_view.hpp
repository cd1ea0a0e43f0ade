#pragma once
/// @file
/// Non-owning views of row-major matrices and vectors, with the memory space in the type.

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include <gpu/export.hpp>
#include <gpu/index.hpp>

namespace gpu {
inline namespace v0 {

/// Where the elements of a view live. A host view never converts to a device view.
enum class memory_space : std::uint8_t { host, device };

/// The element types that operations take: int8 to int32, uint8, uint16, float, double.
template <class T>
concept element =
    std::same_as<T, std::int8_t> || std::same_as<T, std::int16_t> ||
    std::same_as<T, std::int32_t> || std::same_as<T, std::uint8_t> ||
    std::same_as<T, std::uint16_t> || std::same_as<T, float> || std::same_as<T, double>;

/// The same, or const: the elements of an input.
template <class T>
concept input_element = element<std::remove_const_t<T>>;

namespace detail {
/// Throws gpu::invalid_argument unless rows >= 0, cols >= 0, row_stride >= cols and data is not
/// null where there are elements.
GPU_SIMILARITY_EXPORT void check_matrix_extents(const void* data, index_t rows, index_t cols,
                                                index_t row_stride);
/// Throws gpu::invalid_argument unless size >= 0 and data is not null where size > 0.
GPU_SIMILARITY_EXPORT void check_vector_extent(const void* data, index_t size);

/// U becomes T by gaining const.
template <class U, class T>
concept gains_const_as = std::is_convertible_v<U (*)[], T (*)[]> && !std::same_as<U, T>;
}  // namespace detail

/// A row-major matrix of `T` in `Space`: element (i, j) is `data()[i * row_stride() + j]`.
template <class T, memory_space Space>
class basic_matrix_view {
 public:
  /// The element without const.
  using value_type = std::remove_const_t<T>;
  /// Where the elements are.
  static constexpr memory_space space = Space;

  /// An empty view, [0, 0].
  constexpr basic_matrix_view() noexcept = default;

  /// A dense matrix [rows, cols].
  /// @throw gpu::invalid_argument for negative extents, or null data of a non-empty matrix.
  basic_matrix_view(T* data, index_t rows, index_t cols)
      : basic_matrix_view(data, rows, cols, cols) {}

  /// A matrix [rows, cols] whose rows start `row_stride` elements apart.
  /// @throw gpu::invalid_argument as above, or for row_stride < cols.
  basic_matrix_view(T* data, index_t rows, index_t cols, index_t row_stride)
      : data_(data), rows_(rows), cols_(cols), row_stride_(row_stride) {
    detail::check_matrix_extents(data, rows, cols, row_stride);
  }

  /// The same for extents of any integer type, as std::size_t.
  template <class Rows, class Cols>
    requires detail::other_extents<Rows, Cols>
  basic_matrix_view(T* data, Rows rows, Cols cols)
      : basic_matrix_view(data, detail::to_index(rows), detail::to_index(cols)) {}
  /// The same for extents and a stride of any integer type.
  template <class Rows, class Cols, class Stride>
    requires detail::other_extents<Rows, Cols, Stride>
  basic_matrix_view(T* data, Rows rows, Cols cols, Stride row_stride)
      : basic_matrix_view(data, detail::to_index(rows), detail::to_index(cols),
                          detail::to_index(row_stride)) {}

  /// From mutable to const elements; never between memory spaces.
  template <detail::gains_const_as<T> U>
  constexpr basic_matrix_view(basic_matrix_view<U, Space> other) noexcept
      : data_(other.data()),
        rows_(other.rows()),
        cols_(other.cols()),
        row_stride_(other.row_stride()) {}

  /// Element (0, 0).
  [[nodiscard]] constexpr T* data() const noexcept { return data_; }
  /// Number of rows.
  [[nodiscard]] constexpr index_t rows() const noexcept { return rows_; }
  /// Number of columns.
  [[nodiscard]] constexpr index_t cols() const noexcept { return cols_; }
  /// Elements from the start of one row to the start of the next.
  [[nodiscard]] constexpr index_t row_stride() const noexcept { return row_stride_; }
  /// Whether there is no element.
  [[nodiscard]] constexpr bool empty() const noexcept { return rows_ == 0 || cols_ == 0; }
  /// Start of row i; no range check.
  [[nodiscard]] constexpr T* row(index_t i) const noexcept { return data_ + i * row_stride_; }
  /// Element (i, j); host views only, no range check.
  [[nodiscard]] constexpr T& operator()(index_t i, index_t j) const noexcept
    requires(Space == memory_space::host)
  {
    return data_[i * row_stride_ + j];
  }

 private:
  T* data_ = nullptr;
  index_t rows_ = 0;
  index_t cols_ = 0;
  index_t row_stride_ = 0;
};

/// A view of host memory.
template <class T>
using matrix_view = basic_matrix_view<T, memory_space::host>;
/// A view of device memory, valid on the device that owns it.
template <class T>
using device_matrix_view = basic_matrix_view<T, memory_space::device>;

/// A contiguous vector of `T` in device memory. Host vectors are std::span.
template <class T>
class device_vector_view {
 public:
  /// The element without const.
  using value_type = std::remove_const_t<T>;
  /// An empty view.
  constexpr device_vector_view() noexcept = default;
  /// @throw gpu::invalid_argument for a negative size, or null data of a non-empty vector.
  device_vector_view(T* data, index_t size) : data_(data), size_(size) {
    detail::check_vector_extent(data, size);
  }
  /// The same for a size of any integer type, as std::size_t.
  template <class Size>
    requires detail::other_extents<Size>
  device_vector_view(T* data, Size size) : device_vector_view(data, detail::to_index(size)) {}
  /// From mutable to const elements.
  template <detail::gains_const_as<T> U>
  constexpr device_vector_view(device_vector_view<U> other) noexcept
      : data_(other.data()), size_(other.size()) {}

  /// The first element.
  [[nodiscard]] constexpr T* data() const noexcept { return data_; }
  /// Number of elements.
  [[nodiscard]] constexpr index_t size() const noexcept { return size_; }
  /// Whether there is no element.
  [[nodiscard]] constexpr bool empty() const noexcept { return size_ == 0; }

 private:
  T* data_ = nullptr;
  index_t size_ = 0;
};

/// Device memory of the caller that an operation uses as scratch: aligned to at least 256 bytes,
/// and used by nothing else until the stream has passed the call.
using device_workspace = device_vector_view<std::byte>;

namespace detail {
/// A device vector as a matrix of one row.
template <class T>
device_matrix_view<T> as_row(device_vector_view<T> vector) {
  return {vector.data(), 1, vector.size()};
}
}  // namespace detail

}  // namespace v0
}  // namespace gpu
