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

void check_column_list(index_t rows, index_t cols, index_t first_null) {
  if (rows < 0) {
    throw invalid_argument(
        fmt::format("column list view: extents are [{}, {}], expected none below 0", rows, cols));
  }
  if (rows > 0 && first_null < cols) {
    throw invalid_argument(
        fmt::format("column list view: column {} is null, expected {} elements", first_null, rows));
  }
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
