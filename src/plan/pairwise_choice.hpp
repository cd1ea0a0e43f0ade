#pragma once
// How the pairs of rows with missing values are computed on CUDA: a pure function of the masks.

#include <gpu/index.hpp>

namespace gpu::inline v0::detail {

/// Whether rows are taken by classes of equal masks. A tile of 64 x 64 pairs is of two classes, and
/// a panel of some thousand rows has all of them: tiles of fewer than some 32 rows of each would be
/// half empty, and a table is made of every row for every class.
constexpr bool takes_mask_classes(index_t rows, index_t classes) {
  constexpr index_t least_rows_of_class = 32;
  return rows >= least_rows_of_class * classes;
}

}  // namespace gpu::inline v0::detail
