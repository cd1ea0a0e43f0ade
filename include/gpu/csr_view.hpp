#pragma once
/// @file
/// Non-owning views of sparse matrices in host memory, in compressed sparse rows (CSR), as SciPy's
/// csr_matrix, Eigen's row-major SparseMatrix and cuSPARSE have them.

#include <concepts>
#include <cstdint>
#include <limits>
#include <type_traits>
#include <variant>

#include <gpu/column_matrix_view.hpp>
#include <gpu/export.hpp>
#include <gpu/index.hpp>
#include <gpu/matrix_view.hpp>

namespace gpu {
inline namespace v0 {

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
  /// Whether there is no element, stored or not.
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
