#pragma once
// Host-callable launches that look for pairs with a difference in two blocks of statistics.
// Asynchronous on `stream`; no allocation, no synchronisation.

#include <cuda_runtime_api.h>

#include <cstdint>

#include <gpu/index.hpp>
#include <gpu/matrix_view.hpp>

#include "base/index_range.hpp"
#include "stats/difference_screen.hpp"

namespace gpu::kernels {

/// Statistics of rows [first_row, first_row + rows) with columns from first_col on over two groups.
struct difference_block {
  const double* first;   ///< [rows, pitch], NaN where a row has none.
  const double* second;  ///< The same over the second group.
  index_t pitch;
  index_t rows;
  index_t first_row;
  index_t first_col;
  detail::index_range cols;  ///< The columns to look at, from 0 in the block.
};

/// Which pairs of a block are looked for.
struct difference_search {
  stats::difference_screen screen;
  bool later_alone;              ///< Pairs with a later column alone, else with any but the row.
  const double* bars = nullptr;  ///< [rows] the least ratio of each row; null: screen.bar of all.
  /// [rows of the table] where pairs that are surely kept are counted for both rows, in place of
  /// being found; or null.
  std::uint32_t* degrees = nullptr;
};

/// counts[i] = the pairs that are found in row i of the block; counts degrees, where asked for.
void launch_count_differences(const difference_block& block, const difference_search& search,
                              std::uint32_t* counts, cudaStream_t stream);

/// Found pairs: those of row i of the block from begin[i] - begin[first of the rows] on, with
/// ascending columns.
struct difference_lists {
  const std::uint64_t* begin;  ///< [rows of the block + 1]
  std::uint32_t* cols;         ///< Numbers in the table.
  double* first;
  double* second;
};
/// Writes the pairs of `rows`, numbers in the block, that launch_count_differences counted.
void launch_write_differences(const difference_block& block, const difference_search& search,
                              detail::index_range rows, const difference_lists& out,
                              cudaStream_t stream);

}  // namespace gpu::kernels
