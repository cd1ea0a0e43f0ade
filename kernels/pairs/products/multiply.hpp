#pragma once
// Products of the rows of a panel, in memory: the first half of what the tiles products_* do.

#include <cuda_runtime_api.h>

#include "kernels/pairs/kernels.hpp"
#include "plan/matmul_policy.hpp"

namespace gpu::kernels {

/// Which blocks of policy::product_block products are computed.
enum class product_blocks {
  all,
  above_diagonal,  ///< Where a row is before a column.
  on_or_above_it   ///< Of equal rows and columns: those that are no mirror image of another.
};

/// Part p of the products of x [rows] and y [cols] is the sum of elements [p * folded * depth,
/// (p + 1) * folded * depth) of both: of `folded` sums of `depth` elements each.
struct product_job {
  const double* x;
  const double* y;
  index_t x_pitch;
  index_t y_pitch;
  index_t rows;
  index_t cols;
  index_t elements;  ///< Of a row.
  index_t depth;     ///< Of a sum, even.
  int folded;        ///< Sums of a part: 1, or 2 where takes_two_sums(depth).
  index_t offset;    ///< Number of the first column less that of the first row.
  product_blocks blocks;
  product_memory to;  ///< Filled as product_order::direct.
};

/// Whether the tile of sums so long leaves room for a second one.
constexpr bool takes_two_sums(index_t depth) {
  return depth < matmul_policy::tensor_double_large_least_depth;
}
/// Compute capability 8.0 and later. Sums have the bits of a chain of fused multiply-adds in the
/// order of the elements.
void launch_multiply_rows(const product_job& job, cudaStream_t stream);

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
  product_memory to;  ///< `first` is set, to the place of the first pair.
};
/// Rows and columns that the sums of `rows` x `cols` pairs take, wherever they begin.
struct limb_product_extents {
  index_t rows;
  index_t cols;
  static constexpr index_t group = 8;  ///< Rows of a plane that lie together.
  constexpr limb_product_extents(index_t row_count, index_t col_count)
      : rows((row_count + group - 1 + policy::limb_tile_rows - 1) / policy::limb_tile_rows *
             policy::limb_tile_rows),
        cols((col_count + group - 1 + policy::limb_tile_cols - 1) / policy::limb_tile_cols *
             policy::limb_tile_cols) {}
};
/// Compute capability 9.0.
void launch_multiply_limbs(const limb_product_job& job, cudaStream_t stream);

}  // namespace gpu::kernels
