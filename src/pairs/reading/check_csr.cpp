#include <fmt/format.h>

#include <variant>

#include <gpu/csr_view.hpp>
#include <gpu/error.hpp>

namespace gpu::inline v0::detail {
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
      throw invalid_argument(
          fmt::format("csr view: row {} ends at {}, expected at least its begin {}", i,
                      pattern.row_begin[i + 1], pattern.row_begin[i]));
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

}  // namespace gpu::inline v0::detail
