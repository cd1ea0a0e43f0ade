#pragma once
// Tuning of the ranking kernels, as data. Host C++: the plan reads it too. Measured on one H200;
// docs/rank.md has the figures behind the borders.

#include <array>
#include <cstddef>

#include <gpu/index.hpp>

namespace gpu::kernels {

/// Rows that counting can rank, and those for which counting one row a warp is ahead of the block
/// sort. Average ranks are counted up to rank_counting_max_cols, see below.
inline constexpr int rank_counting_max_cols = 128;
inline constexpr int rank_warp_counting_cols = 96;

/// Average ranks are counted with all columns unrolled; the column count is rounded up to one of
/// these. Rows whose elements lie close together go two to a register.
inline constexpr std::array<int, 9> rank_packed_cols{8, 16, 24, 32, 48, 64, 80, 96, 128};
inline constexpr int rank_packed_threads = 128;
/// Threads that share such a row: each counts for its part of the columns, so that its keys and
/// counts fit registers.
constexpr int rank_packed_parts(int cols) {
  return cols <= 64 ? 1 : 2;
}

/// Blocks of that kernel that a multiprocessor is to hold: this bounds its registers. Without a
/// bound the rarer paths of the kernel cost the common one its occupancy.
constexpr int rank_packed_blocks(int cols) {
  if (cols <= 16) return 8;
  if (cols <= 24) return 6;
  if (cols <= 32) return 5;
  if (cols <= 48) return 3;
  if (cols <= 64) return 2;
  return cols <= 96 ? 4 : 3;
}

/// Threads of a block whose warps count one row each.
inline constexpr int rank_warp_threads = 128;

/// One size class of the block sort: threads * items elements, the smallest that holds the row.
struct rank_block_sort_size {
  int threads;
  int items;
  [[nodiscard]] constexpr index_t capacity() const { return index_t{threads} * items; }
};
inline constexpr std::array<rank_block_sort_size, 7> rank_block_sort_sizes{
    {{32, 4}, {64, 4}, {128, 4}, {128, 8}, {256, 8}, {256, 16}, {512, 16}}};
/// The last size class needs more than 48 KiB of shared memory where keys have 64 bits.
constexpr index_t rank_block_sort_max_cols(std::size_t element_bytes) {
  return rank_block_sort_sizes[rank_block_sort_sizes.size() - (element_bytes > 4 ? 2 : 1)]
      .capacity();
}

/// Segmented sort: threads of a block, the most elements of a row that each of them takes at a
/// time, and blocks that a multiprocessor of so many threads is to hold.
inline constexpr int rank_sort_threads = 384;
constexpr int rank_sort_items(std::size_t key_bytes) {
  return key_bytes > 4 ? 12 : 16;
}
constexpr int rank_sort_blocks(int multiprocessor_threads) {
  return multiprocessor_threads < 3 * rank_sort_threads ? 2 : 3;
}
/// Its count of digits: threads of a block, blocks of a multiprocessor, and elements of a row that
/// one block counts.
inline constexpr int rank_count_threads = 512;
inline constexpr int rank_count_blocks = 2;
inline constexpr index_t rank_count_elements = index_t{1} << 14;

/// Ranks of sorted rows are put in the order of the columns in shared memory, by at most so many
/// blocks a row, each of which reads the whole row; half as many threads up to so many columns.
/// Else they are written scattered.
inline constexpr index_t rank_staged_ranges = 4;
inline constexpr int rank_staged_threads = 1024;
inline constexpr index_t rank_staged_few_cols = 12288;
inline constexpr int rank_scattered_threads = 256;

/// Scratch of the segmented sort where the caller sets no limit; at least one row is always held.
inline constexpr std::size_t rank_sort_workspace_bytes = std::size_t{512} << 20;

}  // namespace gpu::kernels
