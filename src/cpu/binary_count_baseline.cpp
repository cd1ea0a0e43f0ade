#include <bit>

#include "cpu/binary_count.hpp"

namespace gpu::cpu {

void count_common_ones_baseline(bit_rows a, bit_rows b, std::int32_t* counts) {
  for (int i = 0; i < bit_block; ++i) {
    for (int j = 0; j < bit_block; ++j) {
      const std::uint64_t* x = a.words + i * a.row_words;
      const std::uint64_t* y = b.words + j * b.row_words;
      std::int32_t count = 0;
      for (index_t w = 0; w < a.row_words; ++w) count += std::popcount(x[w] & y[w]);
      counts[i * bit_block + j] = count;
    }
  }
}

}  // namespace gpu::cpu
