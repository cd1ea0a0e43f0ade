#pragma once
// Host-callable launches of the pair count (sm_90a): decides every pair of a set of ranked rows at
// a cut that keeps many of them, and counts the kept ones per row and, where asked, per bin.

#include <cuda_runtime_api.h>

#include <cstdint>

#include <gpu/index.hpp>

#include "kernels/pairs/kernels.hpp"
#include "kernels/pairs/screen/kernels.hpp"
#include "kernels/pairs/sides.hpp"

namespace gpu::kernels {

/// Rows of one block of a class.
inline constexpr int count_block_rows = 256;
/// Most blocks of left rows that one work item walks: so many stay in L2 while it does.
inline constexpr int count_chunk_blocks = 256;
/// Fewest of them: smaller items spend much of their time on loading right rows and cuts.
inline constexpr int least_chunk_blocks = 8;
/// Work items to aim at: several for each multiprocessor, so that all end at about the same time.
inline constexpr index_t count_wanted_items = 1024;
/// Blocks of right rows that a thread block holds, one for each of its warpgroups.
inline constexpr int count_panel_blocks = 3;
/// Bytes of a packed row of at most 128 ranks.
constexpr int count_depth(index_t cols) {
  return static_cast<int>((cols + 31) / 32 * 32);
}
/// A slot without a row: its packed ranks are 0, and no pair with it is kept.
inline constexpr std::uint32_t empty_slot = no_packed_row;

/// Right rows of one work item: up to three blocks of one class.
struct count_panel {
  std::uint32_t first_block;
  std::uint32_t blocks;
};

/// Blocks of left rows of a chunk, where each of `left_blocks` is counted against `panels` panels;
/// where the panels hold the left rows too (`within`), against half of them on average.
GPU_SIMILARITY_HOST_DEVICE constexpr std::uint32_t chunk_blocks_for(std::uint32_t left_blocks,
                                                                    std::uint32_t panels,
                                                                    bool within) {
  const index_t meetings = index_t{left_blocks} * panels / (within ? 2 : 1);
  const index_t fair = meetings / count_wanted_items;
  if (fair <= least_chunk_blocks) return least_chunk_blocks;
  return static_cast<std::uint32_t>(fair < count_chunk_blocks ? fair : count_chunk_blocks);
}

/// How many work items cover the pairs of the packed rows, and of how many blocks.
struct class_extents {
  index_t items;               ///< Work items.
  std::uint32_t chunk_blocks;  ///< Blocks of left rows of an item.
  std::uint32_t blocks;        ///< Blocks that hold rows; they are the first ones.
  std::uint32_t left_blocks;   ///< Those of them that are of the left side.
};

/// Rows packed class by class, those of the left side first: a class holds the rows of one side and
/// one square sum, in ascending order, and is padded to whole blocks. So two blocks have one exact
/// integer threshold for all their pairs. Device memory of the caller.
struct class_rows {
  int depth;                   ///< Bytes of a packed row: 32, 64, 96 or 128.
  index_t padded_rows;         ///< Places for rows, a multiple of count_block_rows.
  class_extents* extents;      ///< How many of the places and items there are.
  std::uint32_t* slots;        ///< [padded_rows] input row of each packed row, or empty_slot.
  std::uint8_t* tiles;         ///< [padded_rows * depth], groups of eight rows.
  int* square_sums;            ///< [padded_rows / count_block_rows]
  count_panel* panels;         ///< Right rows, by ascending block.
  index_t* items_before;       ///< [class_chunks(padded_rows) + 1] items before each chunk.
  std::uint32_t* first_panel;  ///< [class_chunks(padded_rows)] the first that meets each chunk.
};
/// When a layout is of use: where it needs at most `always_padded_rows` places, or where the square
/// of its places is at most `most_growth` times the square of the rows.
struct class_use {
  double most_growth;
  index_t always_padded_rows;
  std::uint32_t* is_of_use;  ///< 1 or 0; a layout of no use has no items.
};

/// Fills the tiles from the ranks.
void launch_class_pack(const screen_ranks& ranks, const class_rows& packed, cudaStream_t stream);

/// Rows sorted by side and square sum, as by launch_screen_order. How many of them take part is
/// known only on the device.
struct class_source {
  const std::int64_t* square_sums;  ///< [rows of the input]
  const std::uint32_t* order;       ///< [rows]
  index_t rows;
  row_sides sides;
};
/// Most chunks that are smaller than count_chunk_blocks: twice the wanted items, times 9/8 because
/// the blocks of a chunk are rounded down (to 8 or more). They have as many items, and one more for
/// each panel.
inline constexpr index_t most_small_chunks = 2 * count_wanted_items * 9 / 8 + 1;
/// Most chunks of left rows in `padded_rows` places.
constexpr index_t class_chunks(index_t padded_rows) {
  return padded_rows / (index_t{count_chunk_blocks} * count_block_rows) + 1 + most_small_chunks;
}
/// Most work items in `padded_rows` places, where every panel is a single block.
constexpr index_t class_items(index_t padded_rows) {
  const index_t panels = padded_rows / count_block_rows;
  return (panels / count_chunk_blocks + 2) * panels + most_small_chunks;
}
/// Bytes of temporary memory that launch_class_layout needs.
std::size_t class_layout_bytes(index_t rows);
/// Lays the rows out class by class and divides their pairs into work items, all but the tiles,
/// without a look at any value on the host.
void launch_class_layout(const class_source& source, const class_rows& target, const class_use& use,
                         void* temporary, cudaStream_t stream);

/// Whether launch_class_count can bin pairs of `cols` observations: a histogram of the sums has to
/// fit into shared memory.
bool counts_bins(index_t cols);

/// Counts the pairs of the work items [first, last), as far as they exist: degree[i] of both packed
/// rows of each pair with rho >= at_least or rho <= at_most, at_least > 0 > at_most, and, where
/// bins.bins is set, the bin of its rho as kernels/pairs/sinks/bins.cuh counts it (the cut in
/// `bins` is not read). Only on devices of compute capability 9.0.
void launch_class_count(const class_rows& packed, index_t cols, double at_least, double at_most,
                        const bin_sink_args& bins, index_t first, index_t last,
                        std::uint32_t* degree, int multiprocessors, cudaStream_t stream);

/// degree[slots[i]] += packed_degree[i], and *ends += all of them: twice the kept pairs.
void launch_class_degrees(const class_rows& packed, const std::uint32_t* packed_degree,
                          std::uint32_t* degree, unsigned long long* ends, cudaStream_t stream);

}  // namespace gpu::kernels
