#pragma once
// Tuning of the neighbour search, and the arithmetic of its error that host and device share.

#include <gpu/index.hpp>

namespace gpu::kernels {

struct neighbor_policy {
  int warpgroups;  ///< Of a block; each holds 64-row blocks of the left rows.
  int row_blocks;  ///< 64-row blocks per warpgroup.
  int tile_rows;   ///< Rows of the right operand in one pipeline stage.
  int stages;      ///< Stages of the ring that streams the right operand.
};

/// depth: bytes of a packed row of halves.
constexpr neighbor_policy select_neighbor_policy(int depth) {
  if (depth == 64) return {3, 2, 512, 6};
  if (depth == 128) return {3, 2, 256, 5};
  if (depth == 192) return {3, 2, 256, 3};
  return {3, 2, 256, 2};
}

/// Rows that one block holds while it walks a chunk of the right rows.
constexpr int neighbor_panel_rows(const neighbor_policy& policy) {
  return policy.warpgroups * policy.row_blocks * 64;
}

/// Bytes of a packed row for rows of so many elements; at most 128.
constexpr int neighbor_depth(index_t elements) {
  return elements <= 32 ? 64 : static_cast<int>((elements + 31) / 32 * 64);
}
inline constexpr index_t neighbor_most_columns = 128;

/// Consecutive rows whose best product with a left row is recorded: one group. Four groups are a
/// span: the rows of two 256-column products.
inline constexpr int neighbor_group_rows = 128;
inline constexpr int neighbor_span_rows = 512;
/// Rows are padded to a multiple of this: of every panel and every span.
inline constexpr index_t neighbor_row_multiple = 1536;
/// Longest lists that the search keeps; a warp's shared memory bounds it.
inline constexpr index_t neighbor_most_listed = 128;
/// Right rows of a work item, in tiles: what stays in L2 while the panels of the device go by.
inline constexpr int neighbor_most_chunk_tiles = 64;

/// Largest error of a recorded product of unit rows. Rounding both rows to half precision is off by
/// 2^-11 of |x_k y_k| each, and these sum to 1 at most; elements below the normal range add less
/// than 2^-14. Each step of `step_columns` columns ends in a rounding of a value of at most 1,
/// counted as a whole unit in the last place with room for the alignment of its terms: 2^-10.
constexpr float neighbor_error(int depth, int step_columns) {
  return 0x1p-10F * (1.0F + static_cast<float>(depth / (2 * step_columns))) + 0x1p-14F;
}
/// Largest error of a product of rows rounded to half precision, added up in single precision.
inline constexpr float neighbor_unit_error = 0x1p-10F + 0x1p-13F;
/// Largest error of a statistic from products of halves, of unit rows of `cols` columns. Sums run
/// over 64 columns, the four steps with the high halves last, each off by at most 18 units of 2^-23
/// of the sum of |x_k y_k| so far, and these sum to 1 at most: 2^-17. What is left out of the rows
/// is below 2^-20, and each of the cols / 64 sums is added with a rounding of 2^-24. Twice that.
constexpr float half_product_error(index_t cols) {
  return 2e-5F + 2e-9F * static_cast<float>(cols);
}
/// The longest rows with which this tells the best partners from most others.
inline constexpr index_t most_estimated_columns = index_t{1} << 17;
/// The same of ranks: limbs of a rank.
inline constexpr int most_estimated_limbs = 3;
/// Largest error of a single-precision estimate of rho from an exact integer product.
inline constexpr float neighbor_rank_error = 3e-6F;
/// Largest error of a statistic that was rounded to single precision.
inline constexpr float rounded_statistic_error = 0x1p-24F;

}  // namespace gpu::kernels
