#pragma once
// Where a row lies among the packed rows of the neighbour search.
//
// A thread of a warpgroup product holds, of each 256 columns, the pairs of columns 8 c + 2 q. The
// rows of a span are placed so that what one thread folds into one maximum, the columns of its q
// over two products, are 128 consecutive rows of the input: a group.

#include <gpu/index.hpp>

#include "plan/neighbor_policy.hpp"

namespace gpu::kernels {

/// Row of the input at a packed position.
constexpr index_t neighbor_row_at(index_t position) {
  const index_t in_span = position % neighbor_span_rows;
  const index_t quad = in_span % 8 / 2;
  return position - in_span + quad * neighbor_group_rows + in_span / 256 * 64 +
         in_span % 256 / 8 * 2 + in_span % 2;
}

/// Packed position of a row of the input.
constexpr index_t neighbor_position_of(index_t row) {
  const index_t in_span = row % neighbor_span_rows;
  const index_t in_group = in_span % neighbor_group_rows;
  return row - in_span + in_group / 64 * 256 + in_group % 64 / 2 * 8 +
         in_span / neighbor_group_rows * 2 + in_group % 2;
}

static_assert(neighbor_row_at(neighbor_position_of(1337)) == 1337);
static_assert(neighbor_position_of(neighbor_row_at(700)) == 700);

/// What rows without a statistic are packed as: the bits of NaN in half precision.
inline constexpr unsigned short half_nan = 0x7fff;

/// Byte offset of 16-byte piece 0 of a packed row; its pieces stand 128 bytes apart.
constexpr index_t neighbor_offset(index_t position, int depth) {
  return position / 8 * 8 * depth + position % 8 * 16;
}

}  // namespace gpu::kernels
