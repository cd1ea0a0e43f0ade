#pragma once
// The binary multiply on AMX tiles: bits become bytes 0 and 1, whose products count common ones.
//
// A tile of the left operand holds 64 bits of 16 rows, one of the right operand 64 bits of 16 rows
// as columns. The order of the bits inside a tile is free as long as both sides agree: byte
// 4 q + j of a tile's 64 is bit 32 (q / 8) + 8 j + q % 8, so that a shift and a mask unpack four
// bytes from each of 16 words at once.

#include <cstdint>

#include <gpu/index.hpp>

#include "cpu/binary_matmul/count.hpp"

namespace gpu::cpu {

inline constexpr index_t tile_rows = 16;
inline constexpr index_t tile_bytes = 1024;
/// What a thread of multiply_on_tiles works in, at most.
inline constexpr std::size_t tile_scratch_bytes = std::size_t{256} << 10;
/// Rows and columns that are multiplied at once: two tiles of each operand, four of sums.
inline constexpr index_t tile_block = 2 * tile_rows;
/// Words of 32 bits that hold a 64-bit word of 16 rows: the low halves of all, then the high ones.
inline constexpr index_t column_words = 2 * tile_rows;
/// Sums of a block: upper left, upper right, lower left, lower right tile.
inline constexpr index_t block_sums = tile_block * tile_block;

/// Lays 16 rows side by side: word w of them becomes column_words words from columns +
/// w * column_words on.
void lay_columns(bit_rows rows, std::uint32_t* columns);

/// Unpacks 64-bit words `first` to first + count - 1 of 32 rows to `count` pairs of tiles.
void unpack_rows(bit_rows rows, index_t first, index_t count, std::uint8_t* tiles);

/// Words of 16 rows each as columns, `strip` words from one 16 to the next.
struct laid_columns {
  const std::uint32_t* words;
  index_t strip;
};

/// Adds to the sums of `blocks` blocks, of 32 rows and as many columns each, the common ones of
/// `count` 64-bit words: `tiles` as unpack_rows() leaves them, the columns of the first word.
/// `fresh` sums are written instead.
void count_on_tiles(const std::uint8_t* tiles, laid_columns columns, index_t count, index_t blocks,
                    bool fresh, std::int32_t* sums);

/// Writes the products of the first `rows` rows and `cols` columns of blocks side by side.
void finish_blocks(const std::int32_t* sums, index_t rows, index_t cols, const product_terms& terms,
                   std::int32_t* out, index_t stride);

}  // namespace gpu::cpu
