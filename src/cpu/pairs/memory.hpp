#pragma once
// How much memory all pairs may take on the CPU, how many rows are packed at a time and by how many
// threads: one pure function.

#include <cstddef>

#include <gpu/detail/all_pairs.hpp>
#include <gpu/index.hpp>

#include "pairs/measures/measures.hpp"

namespace gpu::cpu {

struct pair_memory {
  /// Rows that are packed at the same time: all, or the two halves of a window. Every two ranges
  /// of half a window meet once, each packed anew from the input.
  index_t window_rows;
  bool is_windowed;       ///< Whether not all rows are packed at once.
  index_t least_window;   ///< Rows of the smallest window of such rows.
  index_t group;          ///< row_layout::group: pair_policy::window_step, or small_window_step.
  std::size_t row_bytes;  ///< Of a packed row.
  index_t piece_rows;     ///< Input rows that are prepared at a time on the way there.
  std::size_t waiting_edges;  ///< Edges that may wait to be put in order.
  std::size_t mask_bytes;     ///< What may be kept of rows with missing values for each mask.
  int threads;                ///< As many as the limit holds the scratch of.
  std::size_t bytes;          ///< Of all that, and of the threads' scratch.
};

/// Within `limit` bytes; 0: the default, pair_policy::packed_bytes and memory_bytes. Ranks of few
/// columns take a byte where the kernels have sums of 8-bit products (pair_kernels::int8), else
/// two. Each thread takes `double_bytes` for sums of doubles. Where the limit is too small, windows
/// are small first, then threads fewer.
/// @throw gpu::out_of_memory where the limit is too small for the least window and one thread.
pair_memory plan_pair_memory(const detail::measure_traits& what, index_t rows, index_t cols,
                             bool has_int8_sums, int threads, std::size_t limit,
                             std::size_t double_bytes = 0);

/// Rows of a window that leaves room for `bytes` of something else; at least a quarter of them.
index_t window_rows_beside(const pair_memory& memory, std::size_t bytes);

}  // namespace gpu::cpu
