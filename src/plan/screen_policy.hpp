#pragma once
// Tuning of the pair screen, and the arithmetic of its threshold that host and device share.
//
// docs/experiments.md has the measurements behind these numbers. Half-precision sums win because
// they halve both the registers that the tensor cores write and the maxima taken over them.

#include <gpu/index.hpp>

namespace gpu::kernels {

/// What the screen multiplies.
enum class screen_operand {
  e4m3,  ///< Ranks rounded to e4m3, at most 128 columns: an upper bound decides, fastest.
  int8,  ///< The ranks themselves, at most 128 columns: exact sums.
  /// Ranks or unit rows of any length rounded to 8 bits, a scale a row: an upper bound decides.
  rounded
};

struct screen_policy {
  int warpgroups;   ///< Consumer warpgroups of a block; each holds 64-row blocks of the left rows.
  int row_blocks;   ///< 64-row blocks per warpgroup.
  int tile_rows;    ///< Rows of the right operand in one pipeline stage.
  int stages;       ///< Stages of the ring that streams the right operand.
  int chunk_tiles;  ///< Tiles that a work item walks: the columns that stay in L2 meanwhile.
};

/// Rows that one block holds while it walks a chunk.
constexpr int panel_rows(const screen_policy& policy) {
  return policy.warpgroups * policy.row_blocks * 64;
}

/// depth: bytes of a packed row, 32, 64, 96 or 128. A chunk holds a whole number of panels, which
/// makes the numbering of the work items a closed form.
constexpr screen_policy select_screen_policy(int depth) {
  if (depth == 32) return {3, 2, 512, 6, 126};
  if (depth == 64) return {3, 2, 256, 6, 126};
  return {3, 2, 256, 4, 126};
}

/// The screen of rounded rows of more than 128 columns, where a tile's sums run over many stages.
struct wide_screen_policy {
  int warpgroups;  ///< Each multiplies 64 left rows by the tile.
  int panel_rows;  ///< Left rows of a tile.
  int tile_rows;   ///< Right rows of a tile.
  int stages;
};
inline constexpr wide_screen_policy wide_screen{3, 192, 256, 7};
/// Columns of all packed rows that lie together: one stage of the ring.
inline constexpr int screen_plane_columns = 64;
/// Columns whose products of 8-bit numbers are sure to add up to 32 bits.
inline constexpr index_t screen_most_columns = 131072;

/// Rows are padded to a multiple of this: of every panel and every tile.
inline constexpr index_t screen_row_multiple = 1536;
/// Fewest rows of a tile, over all depths.
inline constexpr int screen_least_tile_rows = 256;
/// Rows of one entry of the block statistics.
inline constexpr int screen_block_rows = 64;

/// Slack of the e4m3 sums, in units of a product of two ranks: rounding of half-precision sums up
/// to 2 * 8990 (at most 8) and of the tensor cores' aligned addition (32 terms, 13 bits below the
/// largest, at most 32), with room.
inline constexpr float e4m3_sum_slack = 64.0F;
/// Ranks of deeper e4m3 rows are packed at this scale, so that half-precision sums of 128 columns
/// stay below 65504: at most (1 + 2^-4)^2 * 699008 / 16.
inline constexpr float e4m3_deep_scale = 0.25F;
/// What the arithmetic of deeper e4m3 sums loses at most, as a share of the product of the norms,
/// which no term and no sum on the way exceeds by more than (1 + 2^-4)^2: in each of 4 instructions
/// 33 terms aligned to 13 bits below the largest, and one rounding to 11 bits.
inline constexpr float e4m3_deep_loss = 0.025F;
static_assert(e4m3_deep_loss >= 4 * (33.0F / 8192 + 1.0F / 1024) * 1.13F);
/// Relative slack of single-precision threshold arithmetic.
inline constexpr float threshold_slack = 1e-6F;
/// The padding of the left operand times these gives the bias that turns |sum| >= T into one
/// unsigned comparison: columns 30 and 31 of a packed row.
inline constexpr int int8_bias_unit = 127;
inline constexpr int e4m3_bias_coarse = 32;
inline constexpr int e4m3_bias_fine = 2;
/// Columns that leave room for the two bias columns in a depth of 32.
inline constexpr index_t screen_bias_columns = 30;

}  // namespace gpu::kernels
