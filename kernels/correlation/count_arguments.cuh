#pragma once
// What the pair count (pair_count.cuh) is given, and what it holds in shared memory.

#include <cstdint>

#include "correlation/count_kernels.hpp"

namespace gpu::kernels {

struct count_arguments {
  const std::uint8_t* tiles;
  const int* square_sums;
  const count_panel* panels;
  const index_t* items_before;
  const std::uint32_t* first_panel;
  index_t first_item;
  index_t last_item;
  double at_least;
  double at_most;
  unsigned* degree;
  bin_sink_args bins;
  int largest_sum;  // of |S| over all rows: half the histogram
  unsigned one;     // 1, unknown to the compiler: multiplying by it adds on the multiplier's pipe
};

inline constexpr int count_threads = count_panel_blocks * 128;
/// The ring of left rows. Each tile costs the first warpgroup, which sends for the next ones, some
/// hundred clocks, so that tiles are as large as shared memory allows.
template <int depth, bool binned>
struct count_ring {
  static constexpr int tile_rows = binned ? 128 : 256;
  static constexpr int stages = depth > 64 ? 3 : 4;
  static constexpr int bytes = stages * tile_rows * depth;
};
/// Bytes of a warp's scratch: what a lane without bits reads, then 64 x 2 sums a lane.
inline constexpr int count_scratch = 256 + 8192;

__host__ __device__ constexpr std::size_t count_histogram_bytes(int largest_sum) {
  return (2 * static_cast<std::size_t>(largest_sum) + 1 + 32) * sizeof(unsigned);
}
/// What a chunk of left rows is to a panel: square sums where pairs are binned, else cuts.
__host__ __device__ constexpr std::size_t count_table_bytes(bool binned) {
  return count_chunk_blocks * (binned ? 1 : 2) * sizeof(int);
}
template <int depth, bool binned>
__host__ __device__ constexpr std::size_t count_shared_bytes(int largest_sum) {
  const std::size_t rows =
      count_ring<depth, binned>::bytes + count_panel_blocks * count_block_rows * depth;
  const std::size_t bins =
      binned ? count_histogram_bytes(largest_sum) + count_threads / 32 * count_scratch : 0;
  return rows + count_table_bytes(binned) + (bins + 15) / 16 * 16;
}

}  // namespace gpu::kernels
