#pragma once
// A sparse matrix in memory, in compressed sparse rows: what reading a sparse file gives.

#include <cstdint>
#include <optional>
#include <utility>
#include <variant>
#include <vector>

#include <gpu/array.hpp>
#include <gpu/index.hpp>
#include <gpu/matrix.hpp>
#include <gpu/matrix_view.hpp>

namespace gpu::io {

/// A matrix of any element type of the library.
using any_matrix =
    std::variant<matrix<std::int8_t>, matrix<std::int16_t>, matrix<std::int32_t>,
                 matrix<std::uint8_t>, matrix<std::uint16_t>, matrix<double>, matrix<float>>;

/// use(T{}) for the narrowest type that holds integers from `smallest` to `largest`, which int32
/// holds.
template <class Use>
auto with_narrowest(std::int64_t smallest, std::int64_t largest, const Use& use) {
  const auto fits = [&]<class T>(T) {
    return std::in_range<T>(smallest) && std::in_range<T>(largest);
  };
  if (fits(std::int8_t{})) return use(std::int8_t{});
  if (fits(std::uint8_t{})) return use(std::uint8_t{});
  if (fits(std::int16_t{})) return use(std::int16_t{});
  if (fits(std::uint16_t{})) return use(std::uint16_t{});
  return use(std::int32_t{});
}

/// Which places are stored: those of row i from row_begin[i] on, columns ascending, none twice.
template <csr_index Index>
struct sparse_pattern {
  std::vector<Index> row_begin;  ///< [rows + 1]
  array<Index> column;           ///< [row_begin[rows]]
};

/// Indices of 64 bits where 32 do not hold the extents or the number of stored values.
using any_sparse_pattern = std::variant<sparse_pattern<std::int32_t>, sparse_pattern<std::int64_t>>;

/// The stored values, row by row.
using any_sparse_values = std::variant<array<std::int8_t>, array<std::int16_t>, array<std::int32_t>,
                                       array<std::uint8_t>, array<std::uint16_t>, array<double>>;

struct sparse_matrix {
  index_t rows = 0;
  index_t cols = 0;
  any_sparse_pattern pattern = {};
  any_sparse_values values = {};

  [[nodiscard]] index_t stored() const;
  /// body(view): the first `count` rows as a csr_view<const T>.
  template <class Body>
  auto with_rows(index_t count, const Body& body) const {
    return std::visit(
        [&]<class Index, class T>(const sparse_pattern<Index>& own, const array<T>& stored) {
          return body(csr_view<const T>(own.row_begin.data(), own.column.data(), stored.data(),
                                        count, cols));
        },
        pattern, values);
  }
};

/// The rows [begin, end) written out, by `threads` threads.
[[nodiscard]] any_matrix dense_rows(const sparse_matrix& from, index_t begin, index_t end,
                                    int threads);

/// Columns of row i that hold a NaN, ascending.
[[nodiscard]] std::vector<index_t> nan_columns(const sparse_matrix& from, index_t row);

/// Puts the columns of every row in order, with their values.
void sort_columns(sparse_matrix& matrix, int threads);

/// Row and column of a place that is stored twice; the columns are in order. The first such row.
[[nodiscard]] std::optional<std::pair<index_t, index_t>> find_repeated(const sparse_matrix& matrix,
                                                                       int threads);

/// How many NaN are stored, and row and column of the first, row by row.
struct stored_nans {
  index_t count = 0;
  std::optional<std::pair<index_t, index_t>> first = {};
};
[[nodiscard]] stored_nans find_nans(const sparse_matrix& matrix);

}  // namespace gpu::io
