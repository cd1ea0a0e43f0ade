#include <fmt/format.h>

#include <variant>

#include <gpu/error.hpp>
#include <gpu/matrix_view.hpp>

#include "pairs/reading/csr_rows.hpp"

namespace gpu::inline v0::detail {
namespace {

// The number of stored values of a pattern that is one.
template <class Index>
index_t check_csr_pattern(const csr_pattern<Index>& pattern, const void* values, index_t rows,
                          index_t cols, index_t most_stored) {
  if (pattern.row_begin == nullptr) {
    throw invalid_argument(
        fmt::format("csr view: row_begin is null, expected {} indices", rows + 1));
  }
  if (const index_t first = read_once(pattern.row_begin); first != 0) {
    throw invalid_argument(fmt::format("csr view: row_begin begins with {}, expected 0", first));
  }
  index_t stored = 0;
  for (index_t i = 0; i < rows; ++i) {
    const index_t end = read_once(pattern.row_begin + i + 1);
    if (end < stored) throw_csr_places(i, {stored, end}, stored);
    stored = end;
  }
  if (stored > most_stored) {
    throw invalid_argument(
        fmt::format("csr view: row_begin ends with {}, expected at most the {} values and columns "
                    "that are there",
                    stored, most_stored));
  }
  if (stored > 0 && (pattern.column == nullptr || values == nullptr)) {
    throw invalid_argument(fmt::format("csr view: {} is null, expected {} of them",
                                       values == nullptr ? "values" : "column", stored));
  }
  for (index_t i = 0; i < rows; ++i) {
    index_t before = -1;
    for_each_stored(pattern, i, stored, cols, [&](index_t /*place*/, index_t column) {
      if (column <= before) {
        throw invalid_argument(
            fmt::format("csr view: row {} stores column {} behind column {}, expected columns that "
                        "ascend, none twice",
                        i, column, before));
      }
      before = column;
    });
  }
  return stored;
}

}  // namespace

void throw_csr_places(index_t row, index_range places, index_t stored) {
  throw invalid_argument(
      places.end < places.begin
          ? fmt::format("csr view: row {} ends at {}, expected at least its begin {}", row,
                        places.end, places.begin)
          : fmt::format("csr view: row {} stores places {} to {}, expected 0 to {}", row,
                        places.begin, places.end, stored));
}

void throw_csr_column(index_t row, index_t column, index_t cols) {
  throw invalid_argument(
      fmt::format("csr view: row {} stores column {}, expected 0 to {}", row, column, cols - 1));
}

index_t check_csr(const any_csr_pattern& pattern, const void* values, index_t rows, index_t cols,
                  index_t most_stored) {
  if (rows < 0 || cols < 0) {
    throw invalid_argument(
        fmt::format("csr view: extents are [{}, {}], expected none below 0", rows, cols));
  }
  if (rows == 0) return 0;
  return std::visit(
      [&](const auto& own) { return check_csr_pattern(own, values, rows, cols, most_stored); },
      pattern);
}

}  // namespace gpu::inline v0::detail
