#pragma once
/// @file
/// Non-owning views of matrices: row by row in host or device memory, with the memory space in the
/// type, and in host memory also column by column, by columns that lie apart, or sparse. And views
/// of vectors.

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <ranges>
#include <span>
#include <type_traits>
#include <variant>

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
  /// Whether it has no elements.
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
  /// Whether it has no elements.
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
  /// Whether it has no elements.
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
  /// Whether it has no elements.
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

/// The types of the indices of a sparse matrix.
template <class T>
concept csr_index = std::same_as<T, std::int32_t> || std::same_as<T, std::int64_t>;

namespace detail {
/// Where the rows of a sparse matrix begin and which columns they store, by one type of indices.
template <csr_index Index>
struct csr_pattern {
  const Index* row_begin = nullptr;  ///< [rows + 1]: row i stores places row_begin[i] to [i + 1].
  const Index* column = nullptr;     ///< [row_begin[rows]]: ascending within a row.
};
using any_csr_pattern = std::variant<csr_pattern<std::int32_t>, csr_pattern<std::int64_t>>;

/// The number of stored values. Throws gpu::invalid_argument unless the extents are none below 0
/// and the pattern is one of them: see csr_view.
GPU_SIMILARITY_EXPORT index_t check_csr(const any_csr_pattern& pattern, const void* values,
                                        index_t rows, index_t cols, index_t most_stored);
}  // namespace detail

/// A sparse matrix of `T` in host memory, in compressed sparse rows. What is not stored is 0, a
/// value as any other: it is ranked, it counts in means, and no call takes it as missing.
///
/// rank_rows, all pairs and what goes with them (plans, prepared rows, observations) take one
/// wherever they take a matrix_view, and answer what they answer of the dense matrix, to the byte.
/// They write out a few rows at a time, 8 MiB or eight rows, so that the table is never dense as a
/// whole in host memory. The arrays of a matrix in compressed sparse columns (CSC) are the CSR of
/// its transpose.
template <class T>
class csr_view {
 public:
  /// The element without const.
  using value_type = std::remove_const_t<T>;
  /// Where the elements are.
  static constexpr memory_space space = memory_space::host;

  /// An empty view, [0, 0].
  constexpr csr_view() noexcept = default;

  /// A matrix [rows, cols]. Row i stores values[row_begin[i]] to values[row_begin[i + 1] - 1],
  /// in the columns `column` of the same places.
  /// @param row_begin [rows + 1], from 0 on, none below the one before.
  /// @param column [row_begin[rows]], from 0 to cols - 1, ascending within each row, none twice.
  /// @param values [row_begin[rows]].
  /// @param rows,cols extents of the matrix, at least 0.
  /// @param most_stored how many places `column` and `values` have: row_begin[rows] beyond it is
  ///   refused before they are read.
  /// @throw gpu::invalid_argument for negative extents, for null pointers of what is not empty, and
  ///   for indices that are not as said; the message names the row. Cost: all indices are read
  ///   once. A call checks each index again where it uses it: while another thread changes the
  ///   arrays, a call can end with this error or answer with mixed values, but it reads nothing
  ///   outside of the arrays.
  template <csr_index Index>
  csr_view(const Index* row_begin, const std::type_identity_t<Index>* column, T* values,
           index_t rows, index_t cols, index_t most_stored = std::numeric_limits<index_t>::max())
      : pattern_(detail::csr_pattern<Index>{row_begin, column}),
        values_(values),
        rows_(rows),
        cols_(cols),
        stored_(detail::check_csr(pattern_, values, rows, cols, most_stored)) {}
  /// The same for extents of any integer type, as std::size_t.
  template <csr_index Index, class Rows, class Cols>
    requires detail::other_extents<Rows, Cols>
  csr_view(const Index* row_begin, const std::type_identity_t<Index>* column, T* values, Rows rows,
           Cols cols)
      : csr_view(row_begin, column, values, detail::to_index(rows), detail::to_index(cols)) {}

  /// From mutable to const elements.
  template <detail::gains_const_as<T> U>
  constexpr csr_view(const csr_view<U>& other) noexcept
      : pattern_(other.pattern()),
        values_(other.values()),
        rows_(other.rows()),
        cols_(other.cols()),
        stored_(other.stored()) {}

  /// Number of rows.
  [[nodiscard]] constexpr index_t rows() const noexcept { return rows_; }
  /// Number of columns.
  [[nodiscard]] constexpr index_t cols() const noexcept { return cols_; }
  /// The stored values, row by row.
  [[nodiscard]] constexpr T* values() const noexcept { return values_; }
  /// Number of stored values.
  [[nodiscard]] constexpr index_t stored() const noexcept { return stored_; }
  /// Whether it has no elements, stored or not.
  [[nodiscard]] constexpr bool empty() const noexcept { return rows_ == 0 || cols_ == 0; }
  /// The indices: for the library.
  [[nodiscard]] constexpr const detail::any_csr_pattern& pattern() const noexcept {
    return pattern_;
  }

 private:
  detail::any_csr_pattern pattern_;
  T* values_ = nullptr;
  index_t rows_ = 0;
  index_t cols_ = 0;
  index_t stored_ = 0;
};

}  // namespace v0
}  // namespace gpu
