#pragma once
// The identity by which one count of common ones gives every product of bits.

#include <gpu/binary_matmul.hpp>

namespace gpu::inline v0::detail {

/// product = scale * popcount(a & b) + offset of the row of a + offset of the row of b, where the
/// offset of a row is per_one * popcount(row), plus `constant` for rows of a: from
/// popcount(a ^ b) = popcount(a) + popcount(b) - 2 popcount(a & b).
struct bit_terms {
  int scale;
  int per_one;
  int constant;
};

constexpr bit_terms terms_of(bit_product product, index_t cols) {
  switch (product) {
    case bit_product::xnor_dot:
      return {4, -2, static_cast<int>(cols)};
    case bit_product::hamming_distance:
      return {-2, 1, 0};
    case bit_product::and_count:
      return {1, 0, 0};
  }
  return {0, 0, 0};
}

}  // namespace gpu::inline v0::detail
