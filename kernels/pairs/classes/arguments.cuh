#pragma once
// What the pair count (count.cuh) is given, and what it holds in shared memory.

#include <cstdint>

#include "kernels/pairs/classes/kernels.hpp"

namespace gpu::kernels {

struct count_arguments {
  class_rows packed;
  index_t first_item;
  index_t last_item;
  double at_least;
  double at_most;
  unsigned* degree;
  bin_sink_args bins;
  int largest_sum;  // of |S| over all rows: half of a histogram
  unsigned one;     // 1, unknown to the compiler: multiplying by it adds on the multiplier's pipe
};

inline constexpr int count_threads = count_panel_blocks * 128;
/// The ring of left rows. The first warpgroup spends some hundred clocks to request a tile, so
/// tiles are as large as shared memory allows.
template <int depth>
struct count_ring {
  static constexpr int tile_rows = 256;
  static constexpr int stages = depth > 64 ? 3 : 4;
  static constexpr int warpgroups = count_panel_blocks;
  static constexpr int tile_bytes = tile_rows * depth;
  static constexpr int bytes = stages * tile_bytes;
};

/// The sums that are dropped for two classes: `length` of them, from `first` on.
struct dropped_sums {
  int first;
  int length;
};
/// Left rows that a warpgroup multiplies in one step.
inline constexpr int count_step_rows = 64;

/// For each block of left rows of a chunk: the sums that its cut against the panel drops, the
/// number of steps that hold rows (the others are padding and are skipped), and its class.
struct count_table {
  dropped_sums cuts[count_chunk_blocks];
  std::uint8_t steps[count_chunk_blocks];
  int square_sums[count_chunk_blocks];  // where pairs are binned
};

/// A block counts this many bins, below and above the range too, in shared memory of its own.
inline constexpr index_t most_block_bins = 4096;
/// A 64-bit number as two words, because atomic additions to shared memory have 32 bits.
struct split_count {
  unsigned low;
  unsigned high;
};
/// Sums are counted where they are offsets of words: four times as large.
inline constexpr int sum_step = sizeof(unsigned);
/// Words of the histogram that a binning block holds behind its rows and its table: one for every
/// sum, with room for the sum behind the largest one, which bounds a window of dropped sums.
/// most_block_bins split counts follow.
__host__ __device__ constexpr std::size_t count_histogram_words(int largest_sum) {
  return (2 * static_cast<std::size_t>(largest_sum) + 2 + 3) / 4 * 4;
}
template <int depth, bool binned>
__host__ __device__ constexpr std::size_t count_shared_bytes(int largest_sum) {
  const std::size_t rows = count_ring<depth>::bytes + count_panel_blocks * count_block_rows * depth;
  const std::size_t bins =
      count_histogram_words(largest_sum) * sizeof(unsigned) + most_block_bins * sizeof(split_count);
  return rows + sizeof(count_table) + (binned ? bins : 0);
}

}  // namespace gpu::kernels
