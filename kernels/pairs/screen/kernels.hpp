#pragma once
// Host-callable launches of the pair screen (sm_90a): finds the pairs of a sorted, packed set of
// rows whose |rho| may reach a cut, at the rate of the tensor cores, and tests them exactly.

#include <cuda_runtime_api.h>

#include <cstdint>

#include <gpu/index.hpp>

#include "base/keep_range.hpp"
#include "kernels/pairs/sides.hpp"
#include "plan/screen_policy.hpp"

namespace gpu::kernels {

/// Of each 64 packed rows: the smallest norm, and the largest relative error of their rounding.
struct screen_block {
  float smallest_norm;
  float largest_error;
};

/// Two packed rows that may reach the cut, left before right.
struct screen_candidate {
  std::uint32_t left;
  std::uint32_t right;
};

/// A pair that reaches the cut: rows of the input, row < col.
struct screened_edge {
  std::uint32_t row;
  std::uint32_t col;
  double statistic;
};

/// Rows ordered by norm and packed for the tensor cores: those of the left side, then those of the
/// right side from the next multiple of screen_row_multiple on. Device memory of the caller.
struct screen_rows {
  screen_operand operand;
  int depth;                   ///< Bytes of a packed row.
  index_t left_rows;           ///< Packed rows of the left side.
  index_t first_right;         ///< What left rows meet begins here: 0 where they meet each other.
  index_t rows;                ///< The end of the packed rows.
  index_t padded_rows;         ///< A multiple of screen_row_multiple, at least rows.
  const std::uint32_t* order;  ///< [rows] input row of each packed row, or no_packed_row: padding,
                               ///< as rows without a statistic are.
  std::uint8_t* tiles;         ///< [padded_rows * depth], groups of eight rows.
  screen_block* blocks;        ///< [padded_rows / 64]
  screen_block* tile_bounds;   ///< [padded_rows / 256 + 1], of the tiles that one stage holds
};

/// Where the candidates of a launch go.
struct screen_candidates {
  screen_candidate* list;
  std::uint64_t capacity;
  std::uint64_t* count;  ///< Ends as the number there were, also past `capacity`.
  /// Whether no more are looked for once they are more than the capacity; then `count` says only
  /// that they are.
  bool stops = false;
};

/// Where the kept pairs of a launch go.
struct screened_edges {
  screened_edge* list;
  std::uint64_t capacity;
  std::uint64_t* kept;  ///< Increased by the number kept, also past `capacity`.
};

/// The ranks that are screened and tested: device memory.
struct screen_ranks {
  const std::int8_t* ranks;  ///< [rows of the input, stride]; columns past cols are 0
  index_t stride;            ///< a multiple of 4
  index_t cols;
  const std::int64_t* square_sums;  ///< [rows of the input]; 0: no statistic
};

/// The rows that are rounded, screened and tested: unit rows (Pearson) or ranks in limbs
/// (Spearman).
struct screen_source {
  const double* unit_rows = nullptr;   ///< [rows, pitch], see unit_row_layout; or null
  const std::int8_t* limbs = nullptr;  ///< [rows, limb_count, pitch], see launch_split_limbs
  int limb_count = 1;
  index_t pitch = 0;                          ///< values of a row, or of a limb: a multiple of 4
  const std::int64_t* square_sums = nullptr;  ///< [rows]; 0 or less: no statistic
  index_t rows = 0;
};

/// How a row is rounded to 8 bits: each value times `factor`.
struct row_rounding {
  float scale;    ///< At most the length of the rounded row of a row of unit length, about.
  float error;    ///< At least what rounding takes from a row of unit length, as a length.
  double factor;  ///< 0: the row has no statistic.
};

/// How every row is rounded: rounding [rows].
void launch_measure_rounding(const screen_source& source, row_rounding* rounding,
                             cudaStream_t stream);

/// Bytes of temporary memory that launch_round_order needs for `rows` rows.
std::size_t round_order_bytes(index_t rows);

/// order [rows]: the rows by side and ascending scale, stable; those that take no part come first,
/// and rows without a statistic as `sides` says. `temporary` is device memory of
/// round_order_bytes(rows).
void launch_round_order(const row_rounding* rounding, index_t rows, const row_sides& sides,
                        std::uint32_t* order, void* temporary, cudaStream_t stream);

/// Fills tiles, blocks and tile_bounds of `packed` (operand `rounded`) with rounded rows. Above a
/// depth of 128 the packed rows lie in planes of screen_plane_columns columns, one after the other.
void launch_pack_rounded(const screen_source& source, const row_rounding* rounding,
                         const screen_rows& packed, cudaStream_t stream);

/// As launch_screen_refine, for rounded rows.
void launch_rounded_refine(const screen_source& source, const screen_rows& packed,
                           const detail::pair_cut& keep, const screen_candidates& candidates,
                           const screened_edges& edges, cudaStream_t stream);

/// Sums up the blocks of each tile that one stage holds.
void launch_tile_bounds(const screen_rows& packed, cudaStream_t stream);

/// Bytes of temporary memory that launch_screen_order needs for `rows` input rows.
std::size_t screen_order_bytes(index_t rows);

/// order [rows]: the input rows by side and ascending square sum, of which `largest` is the largest
/// possible, stable. Rows that take no part come first, those without a statistic as `sides` says.
/// `temporary` is device memory of screen_order_bytes(rows).
void launch_screen_order(const std::int64_t* square_sums, index_t rows, const row_sides& sides,
                         std::int64_t largest, std::uint32_t* order, void* temporary,
                         cudaStream_t stream);

/// Fills tiles and blocks of `packed` from the ranks.
void launch_screen_pack(const screen_ranks& ranks, const screen_rows& packed, cudaStream_t stream);

/// Number of work items that cover every pair of the packed rows that is asked for.
index_t screen_items(const screen_rows& packed);

/// Screens the items [first, last): pairs whose |rho| may be >= cut become candidates. Only on
/// devices of compute capability 9.0.
void launch_screen(const screen_rows& packed, double cut, index_t first, index_t last,
                   const screen_candidates& candidates, int multiprocessors, cudaStream_t stream);

/// Tests the candidates exactly: those that `keep` keeps go to `edges`.
void launch_screen_refine(const screen_ranks& ranks, const screen_rows& packed,
                          const detail::pair_cut& keep, const screen_candidates& candidates,
                          const screened_edges& edges, cudaStream_t stream);

}  // namespace gpu::kernels
