#include <bit>

#include "cpu/binary_matmul/count.hpp"

namespace gpu::cpu {
namespace {

void multiply(bit_rows a, bit_rows b, index_t cols, const product_terms& terms, std::int32_t* out,
              index_t stride) {
  for (index_t i = 0; i < bit_block; ++i) {
    for (index_t j = 0; j < cols; ++j) {
      const std::uint64_t* x = a.words + i * a.row_words;
      const std::uint64_t* y = b.words + j * b.row_words;
      std::int32_t common = 0;
      for (index_t w = 0; w < a.row_words; ++w) common += std::popcount(x[w] & y[w]);
      out[i * stride + j] = terms.scale * common + terms.row_offsets[i] + terms.col_offsets[j];
    }
  }
}

std::int32_t ones(const std::uint64_t* words, index_t count) {
  std::int32_t sum = 0;
  for (index_t w = 0; w < count; ++w) sum += std::popcount(words[w]);
  return sum;
}

}  // namespace

const bit_kernels baseline_bit_kernels{multiply, ones};

}  // namespace gpu::cpu
