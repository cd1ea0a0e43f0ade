#pragma once
// Host-callable launches of best partners from whole rows of statistics: the keys that a selection
// orders, and the lists that its answer becomes. Asynchronous on `stream`.

#include <cuda_runtime_api.h>

#include <cstdint>

#include <gpu/index.hpp>
#include <gpu/pair_sinks.hpp>

#include "base/keep_range.hpp"
#include "kernels/pairs/neighbors/kernels.hpp"

namespace gpu::kernels {

/// A block of whole rows of statistics, [rows, cols].
struct statistic_block {
  const double* statistics;
  index_t rows;
  index_t cols;
  index_t first_row;  ///< Numbers of row 0 and column 0 in the input.
  index_t first_col;
};
/// keys[i, j] orders the partners of row i, largest first; NaN where the pair is not kept, or is a
/// row with itself. By value, `keys` may be the block's own memory. `square_sums` are those of all
/// rows of the input.
void launch_partner_keys(const statistic_block& block, const detail::pair_cut& keep,
                         const std::int64_t* square_sums, neighbor_order order, double* keys,
                         cudaStream_t stream);
/// Writes the lists of a block, k entries each, from the best `entries` keys of each row and their
/// columns, [rows, entries].
void launch_write_partners(const statistic_block& block, const double* best, const index_t* columns,
                           index_t entries, index_t k, const neighbor_result& lists,
                           cudaStream_t stream);

}  // namespace gpu::kernels
