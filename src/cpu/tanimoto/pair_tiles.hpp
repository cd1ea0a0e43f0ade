#pragma once
// Goes through the pairs of a range of rows tile by tile, by all threads.

#include <algorithm>
#include <bit>
#include <cstdint>

#include "base/index_range.hpp"
#include "base/parallel.hpp"
#include "base/poll_progress.hpp"
#include "cpu/binary_matmul/rows.hpp"
#include "cpu/tanimoto/screen.hpp"

namespace gpu::cpu {

using detail::index_range;

/// Rows of a tile at most; they stay in the first-level cache, as do the columns.
inline constexpr index_t most_tile_rows = 64;

/// The sizes of |a or b| of some rows of one operand with screen_cols rows of the other, and where
/// they are. Operands have an offset of 1 for each bit that is 1, so that these are their products.
struct union_tile {
  index_t first_row;
  index_t first_col;
  alignas(64) std::int32_t sizes[most_tile_rows * screen_cols];

  [[nodiscard]] const std::int32_t* row(index_t i) const {
    return sizes + (i - first_row) * screen_cols;
  }
  void fill(const bit_operand& left, const bit_operand& right, index_t rows) {
    for (index_t i = 0; i < rows; i += bit_block) {
      kernels.multiply(left.from(first_row + i), right.from(first_col), screen_cols,
                       {-1, left.offsets(first_row + i), right.offsets(first_col)},
                       sizes + i * screen_cols, screen_cols);
    }
  }
  const bit_kernels& kernels = usable_bit_kernels();
};

/// Which columns a row meets.
enum class met_columns { all, others, later };

/// Bits of the columns first_col on, up to `cols`, that row i meets.
inline std::uint64_t columns_met(met_columns which, index_t i, index_t first_col, index_t cols) {
  std::uint64_t met = ~std::uint64_t{0};
  if (cols - first_col < screen_cols) met = (std::uint64_t{1} << (cols - first_col)) - 1;
  if (which == met_columns::all || i < first_col) return met;
  const index_t own = i - first_col;
  if (which == met_columns::others) {
    return own < screen_cols ? met & ~(std::uint64_t{1} << own) : met;
  }
  return own + 1 < screen_cols ? met & (~std::uint64_t{0} << (own + 1)) : 0;
}

/// Blocks of rows of a range: whole groups of the operand's rows, which the range may cut at both
/// ends.
struct row_blocks {
  index_range rows;
  index_t first;  ///< of the first block
  index_t step;
  index_t count;

  row_blocks(index_range range, int threads) : rows(range) {
    constexpr index_t blocks_per_thread = 4;
    first = range.begin / bit_block * bit_block;
    const index_t share = (range.end - first) / (blocks_per_thread * threads);
    step = std::clamp<index_t>(share / bit_block * bit_block, bit_block, most_tile_rows);
    count = range.empty() ? 0 : (range.end - first + step - 1) / step;
  }
  [[nodiscard]] index_range of(index_t block) const {
    const index_t begin = first + block * step;
    return {std::max(begin, rows.begin), std::min(begin + step, rows.end)};
  }
};

/// body(tile, rows) for all tiles of the rows of block `block` with columns from `first_col` on
/// (rounded down to whole tiles) to the last, in ascending order, until it returns false.
template <class Body>
void for_each_tile(const row_blocks& blocks, index_t block, const bit_operand& left,
                   const bit_operand& right, index_t cols, index_t first_col, const Body& body) {
  constexpr index_t tiles_per_poll = 256;
  const index_range rows = blocks.of(block);
  union_tile tile;
  tile.first_row = blocks.first + block * blocks.step;
  const index_t held = (rows.end - tile.first_row + bit_block - 1) / bit_block * bit_block;
  index_t done = 0;
  for (index_t col = first_col / screen_cols * screen_cols; col < cols; col += screen_cols) {
    if (++done % tiles_per_poll == 0) detail::poll_progress();
    tile.first_col = col;
    tile.fill(left, right, held);
    if (!body(tile, rows)) return;
  }
}

/// take(j) for the place of every bit of `set` that is 1, ascending.
template <class Take>
void for_each_bit(std::uint64_t set, const Take& take) {
  for (; set != 0; set &= set - 1) take(static_cast<index_t>(std::countr_zero(set)));
}

}  // namespace gpu::cpu
