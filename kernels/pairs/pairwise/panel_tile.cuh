#pragma once
// The pairs that a block takes, of kernels whose warps go through pairs or rows one by one.

#include "kernels/common/launch.cuh"
#include "kernels/pairs/pairwise/decide.cuh"
#include "kernels/pairs/products/multiply.hpp"

namespace gpu::kernels {

/// A block for every tile of so many rows and columns of a panel.
inline dim3 tiles_of(const pairwise_job& job, index_t rows, index_t cols) {
  return {static_cast<unsigned>(ceil_div(job.cols.count, cols)),
          static_cast<unsigned>(ceil_div(job.rows.count, rows))};
}

struct panel_tile {
  static constexpr int rows = 16;
  static constexpr int cols = 32;  // a lane each, where a warp decides a row

  index_t first_row;
  index_t first_col;

  static dim3 all_of(const pairwise_job& job) { return tiles_of(job, rows, cols); }
  /// That of this block.
  __device__ panel_tile()
      : first_row(index_t{blockIdx.y} * rows), first_col(index_t{blockIdx.x} * cols) {}
  [[nodiscard]] __device__ bool is_wanted(const pairwise_job& job) const {
    return is_tile_wanted(job, first_row, first_col + cols - 1);
  }
  /// Columns of the tile that the panel has.
  [[nodiscard]] __device__ int width(const pairwise_job& job) const {
    return static_cast<int>(min(index_t{cols}, job.cols.count - first_col));
  }
};

/// Whether row i and column j of a panel are a pair of it.
__device__ inline bool is_pair(const pairwise_job& job, index_t i, index_t j) {
  return job.blocks != product_blocks::above_diagonal || j + job.offset > i;
}

inline constexpr int most_warps_of_tile = 8;
/// Launches a kernel of tiles, each warp of which takes `of_warp` bytes of shared memory.
template <class Kernel>
void launch_by_warps(Kernel kernel, const pairwise_job& job, std::size_t of_warp,
                     cudaStream_t stream) {
  constexpr std::size_t most_shared = std::size_t{40} << 10;
  unsigned warps = most_warps_of_tile;
  while (warps > 1 && warps * of_warp > most_shared) warps /= 2;
  const std::size_t shared = warps * of_warp;
  allow_shared_memory(kernel, shared);
  kernel<<<panel_tile::all_of(job), 32 * warps, shared, stream>>>(job);
  GPU_SIMILARITY_CHECK_LAUNCH();
}

}  // namespace gpu::kernels
