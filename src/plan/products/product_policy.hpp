#pragma once
// Products of long rows: how they are cut, and what they take. docs/experiments.md has the
// measurements.

#include <gpu/index.hpp>

namespace gpu::kernels::policy {

/// Rows and columns of the products of a panel are cut into blocks of this many, of which those
/// below the diagonal of a symmetric panel are not computed.
inline constexpr index_t product_block = 128;
/// Doubles of the memory for products: 256 MiB. Two thousand rows by as many, eight sums each.
inline constexpr index_t most_product_elements = index_t{1} << 25;
/// Fewest doubles with which every panel can be cut.
inline constexpr index_t least_product_elements = index_t{1} << 18;
/// Shortest rows. The segments of unit rows are of even length from here on.
inline constexpr index_t product_least_columns = 256;
/// Parts of a sum of doubles, at most.
inline constexpr index_t product_most_parts = 8;
/// Products of limbs: left and right rows of a tile, columns of a plane, and parts into which the
/// columns are split at most, each of so many planes at least.
inline constexpr int limb_tile_rows = 192;
inline constexpr int limb_tile_cols = 256;
inline constexpr int limb_plane_columns = 64;
inline constexpr index_t most_limb_splits = 16;
inline constexpr index_t least_planes_of_split = 4;
/// Columns of a part of a sum of products of limbs, at most: these are sure to fit 32 bits.
inline constexpr index_t limb_split_columns = index_t{1} << 17;
static_assert(limb_split_columns * 127 * 127 < (index_t{1} << 31));
/// Longest rows of ranks of two limbs of 7 bits, and of three, which are the longest of products.
inline constexpr index_t two_limb_columns = 127 * 128 + 63 + 1;
inline constexpr index_t limb_most_columns = 127 * 128 * 128 + 63 * 128 + 63 + 1;
static_assert(limb_most_columns <= most_limb_splits * limb_split_columns);
/// Rows behind the last one of a plane, which a tile may read.
inline constexpr index_t plane_padding = limb_tile_cols;
/// Products of halves: left and right rows of a tile, columns and bytes of a row of a cell, and
/// parts into which the columns are split at most, each of so many cells at least.
inline constexpr index_t half_tile_rows = 256;
inline constexpr index_t half_tile_cols = 192;
inline constexpr index_t half_cell_columns = 32;
inline constexpr index_t half_cell_row_bytes = 128;
/// Cells of a row of `cols`: an even number.
constexpr index_t half_cells(index_t cols) {
  return (cols + 2 * half_cell_columns - 1) / (2 * half_cell_columns) * 2;
}
inline constexpr index_t most_half_splits = 16;
inline constexpr index_t least_cells_of_split = 8;
/// Rows of a cell where there are `rows` in all: whole groups of eight, and those of a tile.
constexpr index_t half_plane_rows(index_t rows) {
  const index_t groups = (rows + 7) / 8 * 8;
  return groups < half_tile_rows ? half_tile_rows : groups;
}

}  // namespace gpu::kernels::policy
