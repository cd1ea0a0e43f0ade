#pragma once
/// @file
/// Tables in device memory that do not lie row by row, or whose elements are of another type than
/// those of gpu::element: what all pairs read besides gpu::device_matrix_view.

#include <cstdint>
#include <type_traits>

#include <gpu/index.hpp>
#include <gpu/matrix_view.hpp>

namespace gpu {
inline namespace v0 {

/// What the values of a table in device memory are: the types of gpu::element, and others that are
/// read as float or double, which hold each of their values.
enum class device_element : std::uint8_t {
  int8,
  int16,
  int32,
  uint8,
  uint16,
  float32,
  float64,
  float16,   ///< IEEE half precision, read as float.
  bfloat16,  ///< Read as float.
  uint32,    ///< Read as double, like those below.
  int64,     ///< Up to 2^53 in magnitude: the call waits once, and refuses larger values.
  uint64     ///< The same.
};

namespace detail {
template <element T>
constexpr device_element device_element_of() {
  using enum device_element;
  if (std::is_floating_point_v<T>) return sizeof(T) == 4 ? float32 : float64;
  if (std::is_signed_v<T>) return sizeof(T) == 1 ? int8 : sizeof(T) == 2 ? int16 : int32;
  return sizeof(T) == 1 ? uint8 : uint16;
}
}  // namespace detail

/// A table in device memory of any layout and of any device_element: element (i, j) is element
/// number i * row_stride() + j * col_stride() from data() on. All pairs read one wherever they read
/// a device_matrix_view, on one device, with the same answers. Rows that do not lie element by
/// element, or are read as another type, are copied a block at a time into scratch memory of the
/// call: at most 256 MiB, or one row, so that the table is never in memory twice.
class device_table_view {
 public:
  /// What its values are read as, or a type that holds all of them.
  using value_type = double;
  /// Where the elements are.
  static constexpr memory_space space = memory_space::device;

  /// An empty view, [0, 0].
  constexpr device_table_view() noexcept = default;

  /// A table [rows, cols] with strides in elements, of any sign.
  /// @throw gpu::invalid_argument for negative extents, or null data of a table with elements.
  device_table_view(const void* data, device_element type, index_t rows, index_t cols,
                    index_t row_stride, index_t col_stride)
      : data_(data),
        rows_(rows),
        cols_(cols),
        row_stride_(row_stride),
        col_stride_(col_stride),
        type_(type) {
    detail::check_matrix_extents(data, rows, cols, cols);
  }

  /// The same elements, row by row.
  template <input_element T>
  device_table_view(device_matrix_view<T> view)
      : device_table_view(view.data(), detail::device_element_of<std::remove_const_t<T>>(),
                          view.rows(), view.cols(), view.row_stride(), 1) {}

  /// Element (0, 0).
  [[nodiscard]] constexpr const void* data() const noexcept { return data_; }
  /// Type of the elements.
  [[nodiscard]] constexpr device_element type() const noexcept { return type_; }
  /// Number of rows.
  [[nodiscard]] constexpr index_t rows() const noexcept { return rows_; }
  /// Number of columns.
  [[nodiscard]] constexpr index_t cols() const noexcept { return cols_; }
  /// Elements from one row to the next.
  [[nodiscard]] constexpr index_t row_stride() const noexcept { return row_stride_; }
  /// Elements from one column to the next.
  [[nodiscard]] constexpr index_t col_stride() const noexcept { return col_stride_; }
  /// Whether it has no elements.
  [[nodiscard]] constexpr bool empty() const noexcept { return rows_ == 0 || cols_ == 0; }

 private:
  const void* data_ = nullptr;
  index_t rows_ = 0;
  index_t cols_ = 0;
  index_t row_stride_ = 0;
  index_t col_stride_ = 1;
  device_element type_ = device_element::float64;
};

}  // namespace v0
}  // namespace gpu
