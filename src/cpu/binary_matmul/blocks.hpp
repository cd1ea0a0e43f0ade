#pragma once
// The binary multiply on tiles, block by block.

#include <cstdint>

#include <gpu/matrix_view.hpp>

#include "cpu/binary_matmul/rows.hpp"

namespace gpu::cpu {

/// Whether this machine has tiles and operands of this size are worth unpacking.
bool tiles_pay(index_t rows, index_t cols, index_t bits);

/// out(i, j) = scale * (common ones of row i of left and row j of right) + both offsets. The
/// operands are padded to multiples of tile_block; `threads` >= 1.
void multiply_on_tiles(const bit_operand& left, const bit_operand& right, int scale,
                       matrix_view<std::int32_t> out, int threads);

}  // namespace gpu::cpu
