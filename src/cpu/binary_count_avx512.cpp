// VPOPCNTDQ counts eight words at once; 16 sums and 8 operands stay in registers, so that each
// load serves four counts.
#include <immintrin.h>

#include "cpu/binary_count.hpp"

namespace gpu::cpu {
namespace {

// The totals of eight sums, in order: neighbours by 64-bit halves, then by 128-bit lanes.
__m256i totals(const __m512i* sums) {
  __m512i pairs[4];
  for (int i = 0; i < 4; ++i) {
    pairs[i] = _mm512_add_epi64(_mm512_unpacklo_epi64(sums[2 * i], sums[2 * i + 1]),
                                _mm512_unpackhi_epi64(sums[2 * i], sums[2 * i + 1]));
  }
  const auto fold = [](__m512i x, __m512i y) {
    return _mm512_add_epi64(_mm512_shuffle_i64x2(x, y, 0x88), _mm512_shuffle_i64x2(x, y, 0xdd));
  };
  return _mm512_cvtepi64_epi32(fold(fold(pairs[0], pairs[1]), fold(pairs[2], pairs[3])));
}

}  // namespace

void count_common_ones_avx512(bit_rows a, bit_rows b, std::int32_t* counts) {
  __m512i sums[bit_block * bit_block];
  for (__m512i& sum : sums) sum = _mm512_setzero_si512();
  for (index_t w = 0; w < a.row_words; w += 8) {
    __m512i right[bit_block];
    for (int j = 0; j < bit_block; ++j) {
      right[j] = _mm512_load_si512(b.words + j * b.row_words + w);
    }
    for (int i = 0; i < bit_block; ++i) {
      const __m512i left = _mm512_load_si512(a.words + i * a.row_words + w);
      for (int j = 0; j < bit_block; ++j) {
        __m512i& sum = sums[i * bit_block + j];
        sum = _mm512_add_epi64(sum, _mm512_popcnt_epi64(_mm512_and_si512(left, right[j])));
      }
    }
  }
  _mm256_storeu_si256(reinterpret_cast<__m256i*>(counts), totals(sums));
  _mm256_storeu_si256(reinterpret_cast<__m256i*>(counts + 8), totals(sums + 8));
}

}  // namespace gpu::cpu
