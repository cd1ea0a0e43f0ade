#include <gpu/matrix.hpp>

#include <fmt/format.h>

#include <limits>

#include <gpu/error.hpp>
#include <gpu/matrix_input.hpp>

#include "base/memory_errors.hpp"

namespace gpu::inline v0::detail {

void throw_extent_beyond_index(std::uint64_t extent) {
  throw invalid_argument(fmt::format("extent: got {}, expected at most {}", extent,
                                     std::numeric_limits<index_t>::max()));
}

void check_matrix_extents(const void* data, index_t rows, index_t cols, index_t row_stride) {
  if (rows < 0 || cols < 0) {
    throw invalid_argument(
        fmt::format("matrix view: extents are [{}, {}], expected none below 0", rows, cols));
  }
  if (row_stride < cols) {
    throw invalid_argument(fmt::format(
        "matrix view: row_stride is {}, expected at least the {} columns", row_stride, cols));
  }
  if (data == nullptr && rows > 0 && cols > 0) {
    throw invalid_argument(
        fmt::format("matrix view: data is null, expected {} x {} elements", rows, cols));
  }
}

void check_column_extents(const void* data, index_t rows, index_t cols, index_t col_stride) {
  if (rows < 0 || cols < 0) {
    throw invalid_argument(
        fmt::format("column matrix view: extents are [{}, {}], expected none below 0", rows, cols));
  }
  if (col_stride < rows) {
    throw invalid_argument(fmt::format(
        "column matrix view: col_stride is {}, expected at least the {} rows", col_stride, rows));
  }
  if (data == nullptr && rows > 0 && cols > 0) {
    throw invalid_argument(
        fmt::format("column matrix view: data is null, expected {} x {} elements", rows, cols));
  }
}

namespace {

template <class Index>
void check_csr_row(const csr_pattern<Index>& pattern, index_t row, index_t cols) {
  Index before = -1;
  for (Index k = pattern.row_begin[row]; k < pattern.row_begin[row + 1]; ++k) {
    const Index column = pattern.column[k];
    if (column < 0 || column >= cols) {
      throw invalid_argument(fmt::format("csr view: row {} stores column {}, expected 0 to {}", row,
                                         column, cols - 1));
    }
    if (column <= before) {
      throw invalid_argument(
          fmt::format("csr view: row {} stores column {} behind column {}, expected columns that "
                      "ascend, none twice",
                      row, column, before));
    }
    before = column;
  }
}

template <class Index>
void check_csr_pattern(const csr_pattern<Index>& pattern, const void* values, index_t rows,
                       index_t cols) {
  if (pattern.row_begin == nullptr) {
    throw invalid_argument(
        fmt::format("csr view: row_begin is null, expected {} indices", rows + 1));
  }
  if (pattern.row_begin[0] != 0) {
    throw invalid_argument(
        fmt::format("csr view: row_begin begins with {}, expected 0", pattern.row_begin[0]));
  }
  for (index_t i = 0; i < rows; ++i) {
    if (pattern.row_begin[i + 1] < pattern.row_begin[i]) {
      throw invalid_argument(fmt::format("csr view: row {} ends at {}, expected at least its begin {}",
                                         i, pattern.row_begin[i + 1], pattern.row_begin[i]));
    }
  }
  const auto stored = static_cast<index_t>(pattern.row_begin[rows]);
  if (stored > 0 && (pattern.column == nullptr || values == nullptr)) {
    throw invalid_argument(fmt::format("csr view: {} is null, expected {} of them",
                                       values == nullptr ? "values" : "column", stored));
  }
  for (index_t i = 0; i < rows; ++i) check_csr_row(pattern, i, cols);
}

}  // namespace

void check_csr(const any_csr_pattern& pattern, const void* values, index_t rows, index_t cols) {
  if (rows < 0 || cols < 0) {
    throw invalid_argument(
        fmt::format("csr view: extents are [{}, {}], expected none below 0", rows, cols));
  }
  if (rows == 0) return;
  std::visit([&](const auto& own) { check_csr_pattern(own, values, rows, cols); }, pattern);
}

void check_vector_extent(const void* data, index_t size) {
  if (size < 0) {
    throw invalid_argument(fmt::format("vector view: size is {}, expected at least 0", size));
  }
  if (data == nullptr && size > 0) {
    throw invalid_argument(fmt::format("vector view: data is null, expected {} elements", size));
  }
}

std::size_t checked_element_count(index_t rows, index_t cols, std::size_t element_bytes) {
  if (rows < 0 || cols < 0) {
    throw invalid_argument(
        fmt::format("matrix: extents are [{}, {}], expected none below 0", rows, cols));
  }
  const auto most = static_cast<std::size_t>(std::numeric_limits<index_t>::max()) / element_bytes;
  const auto row_count = static_cast<std::size_t>(rows);
  const auto col_count = static_cast<std::size_t>(cols);
  if (col_count != 0 && row_count > most / col_count) {
    throw out_of_memory(
        fmt::format("matrix: [{}, {}] of {} bytes each does not fit an address space", rows, cols,
                    element_bytes),
        std::numeric_limits<std::size_t>::max());
  }
  return row_count * col_count;
}

void throw_no_memory_for(index_t rows, index_t cols, std::size_t element_bytes) {
  with_memory_errors("matrix", [&] {
    const auto bytes =
        static_cast<std::size_t>(rows) * static_cast<std::size_t>(cols) * element_bytes;
    throw out_of_memory(
        fmt::format("matrix: host memory does not suffice for [{}, {}] of {} bytes each", rows,
                    cols, element_bytes),
        bytes);
  });
  throw_host_memory_exhausted("matrix");
}

void check_range_shape(std::size_t size, index_t rows, index_t cols) {
  if (checked_element_count(rows, cols, 1) == size) return;
  throw invalid_argument(
      fmt::format("as_matrix: the range has {} elements, expected {} x {}", size, rows, cols));
}

void check_column_stride(index_t stride) {
  if (stride == 1) return;
  throw invalid_argument(
      fmt::format("mdspan: columns are {} elements apart, expected 1: row by row", stride));
}

}  // namespace gpu::inline v0::detail
