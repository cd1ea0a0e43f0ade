#pragma once
// The rows of a sparse table, read so that no index leads outside of its arrays.

#include <gpu/index.hpp>
#include <gpu/matrix_view.hpp>

#include "base/index_range.hpp"

namespace gpu::inline v0::detail {

[[noreturn]] void throw_csr_places(index_t row, index_range places, index_t stored);
[[noreturn]] void throw_csr_column(index_t row, index_t column, index_t cols);

/// An index of a caller's array, read from memory once: another thread may write to the array, and
/// what was checked has to be what is used.
template <class Index>
index_t read_once(const Index* from) {
  return static_cast<index_t>(*static_cast<const volatile Index*>(from));
}

/// body(place, column) for each stored place of a row.
/// @throw gpu::invalid_argument for a place outside of [0, stored) or a column outside of [0,
/// cols).
template <class Index, class Body>
void for_each_stored(const csr_pattern<Index>& pattern, index_t row, index_t stored, index_t cols,
                     const Body& body) {
  const index_range places{read_once(pattern.row_begin + row),
                           read_once(pattern.row_begin + row + 1)};
  if (places.begin < 0 || places.end < places.begin || places.end > stored) {
    throw_csr_places(row, places, stored);
  }
  for (index_t k = places.begin; k < places.end; ++k) {
    const index_t column = read_once(pattern.column + k);
    if (column < 0 || column >= cols) throw_csr_column(row, column, cols);
    body(k, column);
  }
}

}  // namespace gpu::inline v0::detail
