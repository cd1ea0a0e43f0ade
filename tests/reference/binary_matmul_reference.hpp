#pragma once
// Products of bits one bit at a time. Slow on purpose, and shares nothing with the library.

#include <cstdint>
#include <vector>

#include <gpu/binary_matmul.hpp>

namespace gpu_test {

inline bool reference_bit(gpu::bit_matrix_view bits, gpu::index_t i, gpu::index_t j) {
  return ((bits.words()[i * bits.row_words() + j / 32] >> (j % 32)) & 1U) != 0;
}

/// [a.rows, b.rows], row-major.
inline std::vector<std::int32_t> reference_binary_matmul(gpu::bit_matrix_view a,
                                                         gpu::bit_matrix_view b,
                                                         gpu::bit_product product) {
  std::vector<std::int32_t> out;
  for (gpu::index_t i = 0; i < a.rows(); ++i) {
    for (gpu::index_t j = 0; j < b.rows(); ++j) {
      std::int32_t dot = 0;
      std::int32_t different = 0;
      std::int32_t both = 0;
      for (gpu::index_t k = 0; k < a.cols(); ++k) {
        const bool x = reference_bit(a, i, k);
        const bool y = reference_bit(b, j, k);
        dot += (x ? 1 : -1) * (y ? 1 : -1);
        different += x != y ? 1 : 0;
        both += x && y ? 1 : 0;
      }
      out.push_back(product == gpu::bit_product::xnor_dot           ? dot
                    : product == gpu::bit_product::hamming_distance ? different
                                                                    : both);
    }
  }
  return out;
}

}  // namespace gpu_test
