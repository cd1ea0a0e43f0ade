#pragma once
/// @file
/// Non-owning views of column-major matrices in host memory, as Eigen, R, Fortran and NumPy's
/// order="F" have them, and of columns that lie apart, as those of Arrow and of data frames; and
/// the integers that only tables of rows take.

#include <algorithm>
#include <concepts>
#include <cstdint>
#include <ranges>
#include <span>
#include <type_traits>

#include <gpu/export.hpp>
#include <gpu/index.hpp>
#include <gpu/matrix_view.hpp>

namespace gpu {
inline namespace v0 {

namespace detail {
/// Integers that rank_rows and all pairs read as doubles, a few rows at a time.
template <class T>
concept wide_integer = std::same_as<T, std::int64_t> || std::same_as<T, std::uint32_t> ||
                       std::same_as<T, std::uint64_t>;

/// The type that the values of a row are read as.
template <class T>
using read_as = std::conditional_t<wide_integer<T>, double, T>;

/// Throws gpu::invalid_argument unless rows >= 0, cols >= 0, col_stride >= rows and data is not
/// null where there are elements.
GPU_SIMILARITY_EXPORT void check_column_extents(const void* data, index_t rows, index_t cols,
                                                index_t col_stride);
/// Throws gpu::invalid_argument unless rows >= 0 and, where there are rows, `first_null` is `cols`.
GPU_SIMILARITY_EXPORT void check_column_list(index_t rows, index_t cols, index_t first_null);
}  // namespace detail

/// The element types of a table in host memory that rank_rows and all pairs take: those of
/// gpu::element, and int64, uint32 and uint64. No value is rounded. Ranks follow the order of the
/// integers, whatever their size; a measure of the values themselves, as Pearson's, takes integers
/// up to 2^53 in magnitude, which doubles hold, and names the first that is larger.
template <class T>
concept table_element = element<T> || detail::wide_integer<T>;

/// A column-major matrix of `T` in host memory: element (i, j) is `data()[j * col_stride() + i]`.
///
/// rank_rows, all pairs and what goes with them (plans, prepared rows, observations) take one
/// wherever they take a matrix_view. They copy a few rows at a time, 8 MiB or eight rows, so that
/// the table is never in memory twice.
template <class T>
class column_matrix_view {
 public:
  /// The element without const.
  using value_type = std::remove_const_t<T>;
  /// Where the elements are.
  static constexpr memory_space space = memory_space::host;

  /// An empty view, [0, 0].
  constexpr column_matrix_view() noexcept = default;

  /// A dense matrix [rows, cols].
  /// @throw gpu::invalid_argument for negative extents, or null data of a non-empty matrix.
  column_matrix_view(T* data, index_t rows, index_t cols)
      : column_matrix_view(data, rows, cols, rows) {}

  /// A matrix [rows, cols] whose columns start `col_stride` elements apart: Eigen's outerStride(),
  /// the leading dimension of BLAS.
  /// @throw gpu::invalid_argument as above, or for col_stride < rows.
  column_matrix_view(T* data, index_t rows, index_t cols, index_t col_stride)
      : data_(data), rows_(rows), cols_(cols), col_stride_(col_stride) {
    detail::check_column_extents(data, rows, cols, col_stride);
  }

  /// The same for extents of any integer type, as std::size_t.
  template <class Rows, class Cols>
    requires detail::other_extents<Rows, Cols>
  column_matrix_view(T* data, Rows rows, Cols cols)
      : column_matrix_view(data, detail::to_index(rows), detail::to_index(cols)) {}
  /// The same for extents and a stride of any integer type.
  template <class Rows, class Cols, class Stride>
    requires detail::other_extents<Rows, Cols, Stride>
  column_matrix_view(T* data, Rows rows, Cols cols, Stride col_stride)
      : column_matrix_view(data, detail::to_index(rows), detail::to_index(cols),
                           detail::to_index(col_stride)) {}

  /// From mutable to const elements.
  template <detail::gains_const_as<T> U>
  constexpr column_matrix_view(column_matrix_view<U> other) noexcept
      : data_(other.data()),
        rows_(other.rows()),
        cols_(other.cols()),
        col_stride_(other.col_stride()) {}

  /// Element (0, 0).
  [[nodiscard]] constexpr T* data() const noexcept { return data_; }
  /// Number of rows.
  [[nodiscard]] constexpr index_t rows() const noexcept { return rows_; }
  /// Number of columns.
  [[nodiscard]] constexpr index_t cols() const noexcept { return cols_; }
  /// Elements from the start of one column to the start of the next.
  [[nodiscard]] constexpr index_t col_stride() const noexcept { return col_stride_; }
  /// Whether there is no element.
  [[nodiscard]] constexpr bool empty() const noexcept { return rows_ == 0 || cols_ == 0; }
  /// Start of column j; no range check.
  [[nodiscard]] constexpr T* column(index_t j) const noexcept { return data_ + j * col_stride_; }
  /// Element (i, j); no range check.
  [[nodiscard]] constexpr T& operator()(index_t i, index_t j) const noexcept {
    return data_[j * col_stride_ + i];
  }

 private:
  T* data_ = nullptr;
  index_t rows_ = 0;
  index_t cols_ = 0;
  index_t col_stride_ = 0;
};

/// A matrix of `T` in host memory whose columns lie apart, as those of Arrow, of a struct of arrays
/// and of a data frame: element (i, j) is `column(j)[i]`. Every call that takes a
/// column_matrix_view takes one, with the same answers; only gpu::transposed does not.
template <class T>
class column_list_view {
 public:
  /// The element without const.
  using value_type = std::remove_const_t<T>;
  /// Where the elements are.
  static constexpr memory_space space = memory_space::host;

  /// An empty view, [0, 0].
  constexpr column_list_view() noexcept = default;

  /// A matrix [rows, columns.size()].
  /// @param columns where each column begins. The view refers to these pointers, as to the
  /// elements.
  /// @param rows elements of each column, at least 0.
  /// @throw gpu::invalid_argument for negative rows, and where there are rows and a pointer is
  /// null;
  ///   the message names its column.
  column_list_view(std::span<T* const> columns, detail::extent auto rows)
      : columns_(columns), rows_(detail::to_index(rows)) {
    detail::check_column_list(rows_, cols(), std::ranges::find(columns, nullptr) - columns.begin());
  }

  /// From mutable to const elements.
  template <detail::gains_const_as<T> U>
  constexpr column_list_view(column_list_view<U> other) noexcept
      : columns_(other.columns()), rows_(other.rows()) {}

  /// Where each column begins.
  [[nodiscard]] constexpr std::span<T* const> columns() const noexcept { return columns_; }
  /// Number of rows.
  [[nodiscard]] constexpr index_t rows() const noexcept { return rows_; }
  /// Number of columns.
  [[nodiscard]] constexpr index_t cols() const noexcept { return std::ssize(columns_); }
  /// Whether there is no element.
  [[nodiscard]] constexpr bool empty() const noexcept { return rows_ == 0 || columns_.empty(); }
  /// Start of column j; no range check.
  [[nodiscard]] constexpr T* column(index_t j) const noexcept {
    return columns_[static_cast<std::size_t>(j)];
  }
  /// Element (i, j); no range check.
  [[nodiscard]] constexpr T& operator()(index_t i, index_t j) const noexcept {
    return column(j)[i];
  }

 private:
  std::span<T* const> columns_;
  index_t rows_ = 0;
};

/// Of a range of pointers, as a std::vector<const double*>.
template <class Columns, class Rows>
column_list_view(const Columns&, Rows)
    -> column_list_view<std::remove_pointer_t<std::ranges::range_value_t<Columns>>>;

namespace detail {
/// The same elements with rows and columns exchanged.
template <class T>
column_matrix_view<T> transpose_of(matrix_view<T> view) {
  return {view.data(), view.cols(), view.rows(), view.row_stride()};
}
template <class T>
matrix_view<T> transpose_of(column_matrix_view<T> view) {
  return {view.data(), view.cols(), view.rows(), view.col_stride()};
}
}  // namespace detail

}  // namespace v0
}  // namespace gpu
