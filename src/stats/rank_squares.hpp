#pragma once
// The sum of squares of a row of ranks.

#include <cstdint>

#include <gpu/index.hpp>

namespace gpu::stats {

/// The sum of squares of `cols` different ranks, doubled and centred: cols - 1, cols - 3, ...,
/// 1 - cols. It is cols (cols^2 - 1) / 3, which is below 2^63 up to 3,024,616 columns; the product
/// before the division is not. Ties make the sum of a row smaller.
constexpr std::int64_t untied_rank_squares(index_t cols) {
  const index_t square = cols * cols - 1;  // one of cols - 1, cols and cols + 1 is divisible by 3
  return cols % 3 == 0 ? cols / 3 * square : square / 3 * cols;
}

}  // namespace gpu::stats
