#pragma once
/// @file
/// What a call takes as a matrix or a vector in host memory: views, gpu::matrix, std::mdspan where
/// the standard library has it, contiguous ranges, and types that a program describes itself; and
/// what a table may be: row by row, column by column, or sparse.

#include <concepts>
#include <ranges>
#include <span>
#include <type_traits>
#include <version>

#if defined(__cpp_lib_mdspan)
#include <mdspan>
#endif

#include <gpu/detail/any_view.hpp>
#include <gpu/export.hpp>
#include <gpu/index.hpp>
#include <gpu/matrix.hpp>
#include <gpu/matrix_view.hpp>

namespace gpu {
inline namespace v0 {

/// How a type is read as a matrix in host memory. A program may specialise it for a type of its
/// own: `static matrix_view<const T> view(const Type&)`; also `static matrix_view<T> view(Type&)`
/// where the type can be an output; and `static constexpr bool borrowed = true` where the elements
/// outlive the object, as those of a view do. A type whose columns follow each other, as those of
/// Eigen, has `static column_matrix_view<const T> view(const Type&)` instead, one whose columns lie
/// apart a column_list_view, and a sparse one a csr_view: rank_rows and all pairs take them.
template <class Matrix>
struct matrix_access {};

/// A view is read as itself.
template <class T>
struct matrix_access<matrix_view<T>> {
  /// The elements are another's.
  static constexpr bool borrowed = true;
  /// The view itself.
  static matrix_view<T> view(matrix_view<T> data) noexcept { return data; }
};

/// A column-major view is read as itself.
template <class T>
struct matrix_access<column_matrix_view<T>> {
  /// The elements are another's.
  static constexpr bool borrowed = true;
  /// The view itself.
  static column_matrix_view<T> view(column_matrix_view<T> data) noexcept { return data; }
};

/// A view of columns that lie apart is read as itself.
template <class T>
struct matrix_access<column_list_view<T>> {
  /// The elements are another's.
  static constexpr bool borrowed = true;
  /// The view itself.
  static column_list_view<T> view(column_list_view<T> data) noexcept { return data; }
};

/// A sparse view is read as itself.
template <class T>
struct matrix_access<csr_view<T>> {
  /// The elements are another's.
  static constexpr bool borrowed = true;
  /// The view itself.
  static csr_view<T> view(const csr_view<T>& data) noexcept { return data; }
};

namespace detail {
template <class Matrix>
concept owning_matrix = requires { requires std::is_object_v<typename Matrix::value_type>; } &&
                        std::derived_from<Matrix, matrix<typename Matrix::value_type>>;
}  // namespace detail

/// gpu::matrix, and results that are one.
template <detail::owning_matrix Matrix>
struct matrix_access<Matrix> {
  /// All elements, read only.
  static auto view(const Matrix& data) noexcept { return data.view(); }
  /// All elements.
  static auto view(Matrix& data) noexcept { return data.view(); }
};

namespace detail {
/// Throws gpu::invalid_argument unless `size` is rows * cols and neither is negative.
GPU_SIMILARITY_EXPORT void check_range_shape(std::size_t size, index_t rows, index_t cols);
/// Throws gpu::invalid_argument unless `stride` is 1.
GPU_SIMILARITY_EXPORT void check_column_stride(index_t stride);
}  // namespace detail

#if defined(__cpp_lib_mdspan)
namespace detail {
template <class Extents>
concept two_extents = Extents::rank() == 2;
template <class Layout>
concept row_layout =
    std::same_as<Layout, std::layout_right> || std::same_as<Layout, std::layout_stride>;
}  // namespace detail

/// std::mdspan of two extents, row by row: layout_right, or layout_stride with columns next to each
/// other (gpu::invalid_argument where they are not).
template <class T, detail::two_extents Extents, detail::row_layout Layout>
struct matrix_access<std::mdspan<T, Extents, Layout>> {
  /// The elements are another's.
  static constexpr bool borrowed = true;
  /// A view of the same elements.
  static matrix_view<T> view(const std::mdspan<T, Extents, Layout>& data) {
    const auto rows = static_cast<index_t>(data.extent(0));
    const auto cols = static_cast<index_t>(data.extent(1));
    if (cols > 1) detail::check_column_stride(static_cast<index_t>(data.stride(1)));
    return {data.data_handle(), rows, cols, rows > 1 ? static_cast<index_t>(data.stride(0)) : cols};
  }
};

/// std::mdspan of two extents, column by column: layout_left.
template <class T, detail::two_extents Extents>
struct matrix_access<std::mdspan<T, Extents, std::layout_left>> {
  /// The elements are another's.
  static constexpr bool borrowed = true;
  /// A view of the same elements.
  static column_matrix_view<T> view(const std::mdspan<T, Extents, std::layout_left>& data) {
    return {data.data_handle(), static_cast<index_t>(data.extent(0)),
            static_cast<index_t>(data.extent(1))};
  }
};
#endif

namespace detail {
template <class X>
inline constexpr bool is_column_view = false;
template <class T>
inline constexpr bool is_column_view<column_matrix_view<T>> = true;
template <class T>
inline constexpr bool is_column_view<column_list_view<T>> = true;
template <class X>
inline constexpr bool is_csr_view = false;
template <class T>
inline constexpr bool is_csr_view<csr_view<T>> = true;

template <class X>
concept has_access =
    requires(const std::remove_cvref_t<X>& x) { matrix_access<std::remove_cvref_t<X>>::view(x); };
/// What a type is read as.
template <has_access X>
using view_read_as = decltype(matrix_access<std::remove_cvref_t<X>>::view(
    std::declval<const std::remove_cvref_t<X>&>()));
}  // namespace detail

/// A type that can be read as a matrix in host memory, row by row.
template <class X>
concept matrix_like = detail::has_access<X> && !detail::is_column_view<detail::view_read_as<X>> &&
                      !detail::is_csr_view<detail::view_read_as<X>>;

/// A type that can be read as a matrix in host memory, column by column.
template <class X>
concept column_matrix_like =
    detail::has_access<X> && detail::is_column_view<detail::view_read_as<X>>;

/// A type that can be read as a sparse matrix in host memory.
template <class X>
concept csr_like = detail::has_access<X> && detail::is_csr_view<detail::view_read_as<X>>;

namespace detail {
// As a plain value: compilers print the whole definition of a concept that is not satisfied.
template <class X>
inline constexpr bool is_host_table = matrix_like<X> || column_matrix_like<X> || csr_like<X>;
}  // namespace detail

/// What rank_rows and all-pairs operations read in host memory: a matrix in either layout, or a
/// sparse one.
template <class X>
concept host_table_like = detail::is_host_table<X>;

namespace detail {
template <class X>
inline constexpr bool is_device_view = false;
template <class T>
inline constexpr bool is_device_view<device_matrix_view<T>> = true;
template <>
inline constexpr bool is_device_view<device_table_view> = true;
}  // namespace detail

/// A view of a matrix in device memory: device_matrix_view or device_table_view.
template <class X>
concept device_matrix_like = detail::is_device_view<std::remove_cvref_t<X>>;

namespace detail {
/// A view whose memory, layout and element type are known at run time: for bindings of languages.
template <class X>
concept erased_table = std::same_as<std::remove_cvref_t<X>, any_table>;
template <class X>
inline constexpr bool is_table = host_table_like<X> || device_matrix_like<X> || erased_table<X>;
}  // namespace detail

/// What all-pairs operations read: a matrix in host or in device memory.
template <class X>
concept table_like = detail::is_table<X>;

/// A type that can be read as a vector in host memory: std::vector, std::array, std::span, an
/// array.
template <class X>
concept vector_like =
    !host_table_like<X> && std::ranges::contiguous_range<const std::remove_cvref_t<X>> &&
    std::ranges::sized_range<const std::remove_cvref_t<X>>;

/// What operations along rows read: a matrix in host memory, or a vector as one row.
template <class X>
concept rows_like = matrix_like<X> || vector_like<X>;

namespace detail {
template <class X>
concept borrowed_matrix = matrix_like<X> && (std::is_lvalue_reference_v<X> ||
                                             matrix_access<std::remove_cvref_t<X>>::borrowed);
template <class X>
concept borrowed_table = requires(const view_read_as<X>& view) {
  transpose_of(view);
} && (std::is_lvalue_reference_v<X> || matrix_access<std::remove_cvref_t<X>>::borrowed);
template <class Range>
concept borrowed_elements = std::ranges::contiguous_range<Range> &&
                            std::ranges::sized_range<Range> && std::ranges::borrowed_range<Range>;
}  // namespace detail

/// A view of a matrix in host memory: matrix_view<T>, or matrix_view<const T> of one that is const.
/// The result refers to `x`, so an object that owns its elements must have a name: a temporary one
/// is not taken.
template <detail::borrowed_matrix X>
[[nodiscard]] auto view_of(X&& x) {
  return matrix_access<std::remove_cvref_t<X>>::view(x);
}

/// The transpose of a matrix in host memory, as a view of the same elements: element (i, j) of it
/// is (j, i) of `x`. A matrix that stands row by row becomes a column_matrix_view, and the other
/// way round: gpu::transposed(gpu::as_matrix(values, cols, rows)) is a table [rows, cols] that
/// stands column by column. Nothing is copied; rank_rows and all pairs read either. The result
/// refers to `x`, so an object that owns its elements must have a name: a temporary one is not
/// taken.
template <detail::borrowed_table X>
[[nodiscard]] auto transposed(X&& x) {
  return detail::transpose_of(matrix_access<std::remove_cvref_t<X>>::view(x));
}

/// The same of a table in device memory, which all pairs read: most tables of PyTorch and of data
/// frames have their variables in columns.
[[nodiscard]] inline device_table_view transposed(const device_table_view& x) {
  return {x.data(), x.type(), x.cols(), x.rows(), x.col_stride(), x.row_stride()};
}
/// That of a device_matrix_view.
template <class T>
[[nodiscard]] device_table_view transposed(device_matrix_view<T> x) {
  return transposed(device_table_view(x));
}

/// The arrays of a matrix in compressed sparse columns are the csr_view of its transpose; of one in
/// compressed sparse rows they have to be sorted anew.
template <csr_like X>
void transposed(X&& x) = delete;

/// The elements of a contiguous range as a matrix [rows, cols], row by row.
/// The result refers to the elements, so a range that owns them must have a name: a temporary one
/// is not taken.
/// @throw gpu::invalid_argument unless the range has rows * cols elements.
template <detail::borrowed_elements Range, detail::extent Rows, detail::extent Cols>
[[nodiscard]] auto as_matrix(Range&& range, Rows rows, Cols cols) {
  using value = std::remove_reference_t<std::ranges::range_reference_t<Range>>;
  detail::check_range_shape(std::ranges::size(range), detail::to_index(rows),
                            detail::to_index(cols));
  return matrix_view<value>(std::ranges::data(range), rows, cols);
}

namespace detail {

/// The rest is for the bodies of the operations. A type that an operation does not take ends in one
/// static_assert; float replaces its element type, so that nothing else fails.
template <class X>
auto view_as_matrix(X&& x) {
  if constexpr (matrix_like<X>) {
    return matrix_access<std::remove_cvref_t<X>>::view(x);
  } else if constexpr (vector_like<X>) {
    using value = std::remove_reference_t<decltype(*std::ranges::data(x))>;
    return matrix_view<value>(std::ranges::data(x), 1, static_cast<index_t>(std::ranges::size(x)));
  } else {
    return matrix_view<const float>();
  }
}

/// The element type of a matrix or vector in host memory, without const.
template <class X>
using element_of = typename decltype(view_as_matrix(std::declval<const X&>()))::value_type;

/// The element type, or float where it is not one of the library's.
template <class X>
using element_or_float = std::conditional_t<element<element_of<X>>, element_of<X>, float>;

// As plain values: a concept that fails inside a static_assert prints its whole definition.
template <class X>
inline constexpr bool has_element = element<element_of<X>>;
template <class T>
inline constexpr bool is_element = element<T>;

/// A matrix or vector as a read-only view of one of the library's element types.
template <rows_like Data>
auto read_elements(const Data& data) {
  static_assert(
      has_element<Data>,
      "data: its elements have a type that is not taken, expected int8_t, int16_t, int32_t, "
      "uint8_t, uint16_t, float or double");
  if constexpr (has_element<Data>) {
    return matrix_view<const element_of<Data>>(view_as_matrix(data));
  } else {
    return matrix_view<const float>();
  }
}

/// Whether the library has operations on T; one plain message where it has not.
template <class T>
constexpr bool checked_element() {
  static_assert(
      is_element<std::remove_const_t<T>>,
      "data: its elements have a type that is not taken, expected int8_t, int16_t, int32_t, "
      "uint8_t, uint16_t, float or double");
  return is_element<std::remove_const_t<T>>;
}

/// The element type of a table in host memory, without const.
template <host_table_like Data>
using table_element_of = typename view_read_as<Data>::value_type;

template <class T>
inline constexpr bool is_table_element = table_element<T>;

/// Whether rank_rows and all pairs take T in host memory; one plain message where they do not.
template <class T>
constexpr bool checked_table_element() {
  static_assert(
      is_table_element<T>,
      "data: its elements have a type that is not taken, expected int8_t, int16_t, int32_t, "
      "uint8_t, uint16_t, float or double, or in host memory int64_t, uint32_t or uint64_t");
  return is_table_element<T>;
}

/// A table in host memory as a read-only view.
template <host_table_like Data>
auto read_host_table(const Data& data) {
  using value = table_element_of<Data>;
  if constexpr (!checked_table_element<value>()) {
    return matrix_view<const float>();
  } else if constexpr (std::convertible_to<view_read_as<Data>, column_list_view<const value>>) {
    return column_list_view<const value>(matrix_access<Data>::view(data));
  } else if constexpr (column_matrix_like<Data>) {
    return column_matrix_view<const value>(matrix_access<Data>::view(data));
  } else if constexpr (csr_like<Data>) {
    return csr_view<const value>(matrix_access<Data>::view(data));
  } else {
    return matrix_view<const value>(matrix_access<Data>::view(data));
  }
}

/// A table in host or in device memory as a read-only view.
template <table_like Data>
auto read_table(const Data& data) {
  if constexpr (erased_table<Data>) {
    return data;
  } else if constexpr (std::same_as<Data, device_table_view>) {
    return data;
  } else if constexpr (device_matrix_like<Data>) {
    if constexpr (checked_element<typename Data::value_type>()) {
      return device_table_view(data);
    } else {
      return device_table_view();
    }
  } else {
    return read_host_table(data);
  }
}

/// Two tables that one call takes: both in host memory, or both in device memory; of erased ones
/// the call looks at that itself.
template <class X, class Y>
inline constexpr bool tables_together =
    (host_table_like<X> && host_table_like<Y>) ||
    (device_matrix_like<X> && device_matrix_like<Y>) || (erased_table<X> && erased_table<Y>);

template <class X>
concept writable = !std::is_const_v<std::remove_pointer_t<
    decltype(view_as_matrix(std::declval<std::remove_reference_t<X>&>()).data())>>;

/// What an operation can write a matrix into: a name of one that owns its elements, or any view of
/// elements that are not const.
template <class X>
concept output_matrix = borrowed_matrix<X> && writable<X>;

/// The same for vectors.
template <class X>
concept output_vector = vector_like<X> && borrowed_elements<X> && writable<X>;

}  // namespace detail

}  // namespace v0
}  // namespace gpu
