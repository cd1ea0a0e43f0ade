#pragma once
// The binary multiply on AMX tiles: bits become bytes 0 and 1, whose products count common ones.
//
// A tile of the left operand holds 64 bits of 16 rows, one of the right operand 64 bits of 16 rows
// as columns. The order of the bits inside a tile is free as long as both sides agree: byte
// 4 q + j of a tile's 64 is bit 32 (q / 8) + 8 j + q % 8, so that a shift and a mask unpack four
// bytes from each of 16 words at once.

#include <cstdint>

#include <gpu/index.hpp>

#include "cpu/binary_count.hpp"

namespace gpu::cpu {

inline constexpr index_t tile_rows = 16;
inline constexpr index_t tile_bytes = 1024;
/// Rows and columns that are multiplied at once: two tiles of each operand, four of sums.
inline constexpr index_t tile_block = 2 * tile_rows;

/// Unpacks 64-bit words `first` to first + count - 1 of 16 rows to `count` tiles, as rows or as
/// columns.
void unpack_left_tiles(bit_rows rows, index_t first, index_t count, std::uint8_t* tiles);
void unpack_right_tiles(bit_rows rows, index_t first, index_t count, std::uint8_t* tiles);

/// counts[i * cols + j] = common ones of row i of 32 and row j of `cols`, a multiple of 32: `left`
/// holds 2 strips of `words` tiles, `right` cols / 16.
void count_on_tiles(const std::uint8_t* left, const std::uint8_t* right, index_t words,
                    index_t cols, std::int32_t* counts);

/// sums[i] += counts[i].
void add_counts(const std::int32_t* counts, index_t count, std::int32_t* sums);

/// out[i] = scale * counts[i] + own + offsets[i]; `out` may be `counts`.
void finish_counts(const std::int32_t* counts, index_t count, int scale, std::int32_t own,
                   const std::int32_t* offsets, std::int32_t* out);

}  // namespace gpu::cpu
