#pragma once
// Products of the rows of a panel, in memory: the first half of what the tiles products_* and
// pairwise_* and signs do.

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>

#include "base/round_up.hpp"
#include "kernels/pairs/kernels.hpp"
#include "plan/matmul_policy.hpp"

namespace gpu::kernels {

/// Which blocks of policy::product_block products are computed.
enum class product_blocks {
  all,
  above_diagonal,  ///< Where a row is before a column.
  on_or_above_it   ///< Of equal rows and columns: those that are no mirror image of another.
};
/// Whether a tile of a job holds products that are computed: its first row and last column,
/// numbered in the panel. `offset` of the job is the number of the first column less that of the
/// first row.
template <class Job>
GPU_SIMILARITY_HOST_DEVICE constexpr bool is_tile_wanted(const Job& job, index_t first_row,
                                                         index_t last_col) {
  if (job.blocks == product_blocks::above_diagonal) return last_col + job.offset > first_row;
  if (job.blocks == product_blocks::on_or_above_it) {
    return last_col / policy::product_block >= first_row / policy::product_block;
  }
  return true;
}

/// Rows of the input from *end on are left out of a job, whose first row has the number `first`;
/// null: none is.
struct row_limit {
  const index_t* end = nullptr;
  index_t first = 0;

  /// Whether row `row` of the job and those behind it are left out.
  [[nodiscard]] GPU_SIMILARITY_HOST_DEVICE bool leaves_out(index_t row) const {
    return end != nullptr && first + row >= *end;
  }
};

/// Products of x [rows] and y [cols]. Each `segment` elements of both are one part, the sums of
/// their slices of `depth` elements added in order; or, where slices_apart > 1, as many parts, a
/// slice each.
struct product_job {
  const double* x;
  const double* y;
  index_t x_pitch;
  index_t y_pitch;
  index_t rows;
  index_t cols;
  index_t segment;  ///< Even.
  index_t depth;    ///< Even; below `segment` only where takes_two_sums(depth).
  int slices_apart;
  index_t offset;  ///< Number of the first column minus number of the first row.
  product_blocks blocks;
  row_limit limit;
  product_memory to;  ///< Filled as product_order::direct.
};

/// Whether the tile of sums so long leaves room for a second one.
constexpr bool takes_two_sums(index_t depth) {
  return depth < matmul_policy::tensor_double_large_least_depth;
}
/// Where there are no more products than this, whole rows would leave the device idle: slices of
/// long rows are apart.
inline constexpr index_t most_sliced_products = index_t{1} << 18;
/// Compute capability 8.0 and later. Sums have the bits of a chain of fused multiply-adds in the
/// order of the elements.
void launch_multiply_rows(const product_job& job, cudaStream_t stream);
/// Adds up, in order, the slices that are apart: the sum is in the part of the first one.
void launch_add_slices(const product_job& job, cudaStream_t stream);

/// The limbs of launch_split_limbs in planes of 64 columns, as the warpgroup products read them:
/// limb l of columns [64 q, 64 q + 64) of all rows is plane l * product_planes(cols) + q, of
/// `plane_rows` rows, in groups of eight rows whose 16-byte pieces stand side by side.
constexpr index_t product_planes(index_t cols) {
  return (cols + 63) / 64;
}
void launch_pack_planes(const std::int8_t* limbs, index_t rows, int limb_count, index_t columns,
                        index_t cols, index_t plane_rows, std::int8_t* out, cudaStream_t stream);

/// The same of limbs in planes: see launch_pack_planes and product_memory. Split s of the sum of
/// two limbs is over planes [s * depth, (s + 1) * depth) of each.
struct limb_product_job {
  const std::int8_t* planes;
  index_t plane_rows;
  int limbs;
  int planes_of_limb;
  int depth;
  index_t first_row;  ///< Of the planes' rows.
  index_t first_col;
  index_t rows;
  index_t cols;
  product_blocks blocks;
  row_limit limit;
  product_memory to;  ///< `first` is set, to the place of the first pair.
};
/// Rows and columns that the sums of `rows` x `cols` pairs take in whole tiles of planes, wherever
/// they begin.
struct tiled_extents {
  index_t rows;
  index_t cols;
  static constexpr index_t group = 8;  ///< Rows of a plane that lie together.
};
constexpr tiled_extents tiled_extents_of(index_t rows, index_t cols, index_t tile_rows,
                                         index_t tile_cols) {
  return {round_up(rows + tiled_extents::group - 1, tile_rows),
          round_up(cols + tiled_extents::group - 1, tile_cols)};
}
/// Rows of planes that have none behind the last group: their limbs are multiplied pair by pair,
/// because tiles would multiply padding almost alone.
inline constexpr index_t most_few_rows = 64;
/// The same of such planes.
void launch_multiply_few_limbs(const limb_product_job& job, cudaStream_t stream);
/// Compute capability 9.0.
void launch_multiply_limbs(const limb_product_job& job, cudaStream_t stream);

/// The same of unit rows split into halves: see half_plane_rows. Split s of a sum is over cells
/// [s * depth, (s + 1) * depth); sums are floats, half_scale squared times the products.
struct half_product_job {
  const std::byte* planes;
  index_t plane_rows;
  index_t cells;  ///< Of a row.
  index_t depth;
  index_t first_row;  ///< Of the planes' rows.
  index_t first_col;
  index_t rows;
  index_t cols;
  product_blocks blocks;
  row_limit limit;
  product_memory to;  ///< `first` is set, to the place of the first pair.
};
/// Compute capability 9.0.
void launch_multiply_halves(const half_product_job& job, cudaStream_t stream);

/// Finished statistics in place of products, of rows with missing values (kernels/pairs/pairwise):
/// those of a panel, as one part of product_memory, row by row.
struct pairwise_job {
  pair_operand rows;
  pair_operand cols;
  pairwise_decision decision;
  index_t offset;  ///< Number of the first column less that of the first row.
  product_blocks blocks;
  product_memory to;  ///< Filled as product_order::direct.
  mask_classes classes;
};
/// Whether only pairs that are kept are written, and marked in product_memory::kept: cuts drop most
/// of what classes compute.
constexpr bool marks_kept(pair_tile_kind tile, const pair_panel& panel) {
  const bool by_classes = tile == pair_tile_kind::pairwise_ranks ? panel.classes.count != 0
                                                                 : panel.classes.on_tensor_cores;
  return panel.decision.drops_pairs() && by_classes;
}
void launch_pairwise_ranks(const pairwise_job& job, cudaStream_t stream);
void launch_pairwise_values(const pairwise_job& job, cudaStream_t stream);
/// The same of rows that are taken by classes; of values where mask_classes::on_tensor_cores.
void launch_class_ranks(const pairwise_job& job, cudaStream_t stream);
void launch_class_values(const pairwise_job& job, cudaStream_t stream);
/// The same of rows of signs (kernels/pairs/signs): tau, or what stands for it.
void launch_sign_statistics(const pairwise_job& job, const stats::kendall_decision& by,
                            cudaStream_t stream);

}  // namespace gpu::kernels
