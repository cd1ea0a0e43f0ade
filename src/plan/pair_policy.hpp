#pragma once
// Tile shapes and limits of the all-pairs kernels, as data.

#include <gpu/index.hpp>

namespace gpu::kernels::policy {

/// How one tile of pairs is shared out: threads of a block, rows and columns of the tile, and how
/// many row and column slots of it one thread holds.
struct tile_layout {
  int threads;
  int blocks_per_multiprocessor;
  int rows;
  int cols;
  int row_slots;
  int col_slots;
  int columns_per_step;  // elements of a row that are in shared memory at a time
};

/// One block per row, ranks recomputed per pair.
inline constexpr tile_layout naive{256, 1, 1, 256, 1, 1, 0};
/// dp4a on int8: 8 x 8 products a thread, 32-bit words of 4 elements.
inline constexpr tile_layout shared_int8{256, 2, 128, 128, 8, 8, 8};
/// Doubles take two registers each, so a thread holds 4 x 4; three pending partial sums besides the
/// running one: no second block fits the registers.
inline constexpr tile_layout shared_double{256, 1, 64, 64, 4, 4, 16};
/// mma.sync m16n8k32: 8 warps as 4 x 2, each 32 x 32 pairs. 64 x 32 pairs a warp spill beside the
/// tests and counters of a sink.
inline constexpr tile_layout tensor_int8{256, 2, 128, 64, 4, 8, 0};
/// The same with 64-bit totals.
inline constexpr tile_layout tensor_limbs{256, 2, 128, 64, 4, 8, 128};
/// mma.sync m16n8k8 tf32, the same grid, with float totals.
inline constexpr tile_layout tensor_float{256, 2, 128, 64, 4, 8, 16};
/// mma.sync m16n8k4 on doubles: 8 warps as 4 x 2, each 16 x 32 pairs, whose trees of partial sums
/// fill the registers.
inline constexpr tile_layout tensor_double{256, 1, 64, 64, 2, 8, 16};
/// mma.sync m16n8k16 on halves, as tensor_int8.
inline constexpr tile_layout tensor_half = tensor_int8;
/// Its longest rows.
inline constexpr index_t most_half_columns = 64;
/// Rows with missing values are taken by classes of equal masks where a class has so many rows, on
/// average: a tile of 64 x 64 pairs is of two classes, and a panel of some thousand rows has all of
/// them, so that tiles of fewer rows would be half empty; and a table is made of every row for
/// every class.
inline constexpr index_t least_rows_of_mask_class = 32;
/// Products that are in memory already: a warp reads 32 neighbours of a row.
inline constexpr tile_layout products{256, 2, 32, 64, 4, 2, 0};
/// Columns whose products a tensor core adds up before they are added to the totals: it truncates
/// where the totals round, so short runs keep the error at the level of a float sum.
inline constexpr int tensor_float_run = 64;

/// The naive kernel keeps a row of doubles in shared memory.
inline constexpr int naive_most_cols = 4096;
/// Column tiles that one block walks with the same rows, at most.
inline constexpr int column_tiles_per_block = 32;
/// The same of a panel of row_tiles x col_tiles on a device that holds `at_once` blocks: a few
/// rounds of blocks fill it evenly, also where half of the tiles hold no pair.
constexpr index_t walked_column_tiles(index_t row_tiles, index_t col_tiles, index_t at_once,
                                      index_t most) {
  constexpr index_t rounds = 4;
  const index_t walked = row_tiles * col_tiles / (rounds * at_once);
  return walked < 1 ? 1 : (walked < most ? walked : most);
}
/// int8 limbs of 7 bits: products of one group of limbs fit int32 for so many columns.
inline constexpr int limb_bits = 7;
inline constexpr int columns_per_fold = 1 << 15;
/// Bins that fit shared memory as 32-bit counters.
inline constexpr int shared_bins = 8192;

}  // namespace gpu::kernels::policy
