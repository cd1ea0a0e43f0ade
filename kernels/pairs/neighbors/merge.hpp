#pragma once
// Host-callable launches of top-k by candidates: lists of the best so far, and the cuts that they
// make. Asynchronous on `stream`.

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>

#include <gpu/index.hpp>

#include "kernels/pairs/kernels.hpp"

namespace gpu::kernels {

/// Which function of the statistic orders neighbours.
enum class rank_key { value, magnitude };

/// The k best neighbours of rows [first_row, first_row + rows) so far.
struct neighbor_lists {
  index_t first_row;
  index_t rows;
  index_t k;
  std::uint32_t* index;  // [rows, k]
  double* statistic;     // [rows, k]
  std::uint32_t* count;  // [rows]
};
/// Scratch bytes that launch_merge_neighbors needs.
std::size_t merge_scratch_bytes(index_t rows, index_t k, std::uint64_t count);
/// Merges finished candidates, sorted by key, into the lists: by `order` descending, ties to the
/// lowest column. All columns of the candidates are above those already in the lists.
void launch_merge_neighbors(const neighbor_lists& lists, rank_key order, const std::uint64_t* keys,
                            const std::uint64_t* values, std::uint64_t count, void* scratch,
                            std::size_t scratch_bytes, cudaStream_t stream);
/// Writes the test that a candidate must pass to enter its row's list.
void launch_row_cuts(const neighbor_lists& lists, rank_key order, double at_least, double at_most,
                     double margin, row_cut* cuts, cudaStream_t stream);

}  // namespace gpu::kernels
