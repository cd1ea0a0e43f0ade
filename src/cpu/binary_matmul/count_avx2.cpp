// AVX2 has no population count: the nibbles of 32 bytes are looked up at once, and the byte counts
// are added up by differences from zero before they can overflow.
#include <immintrin.h>

#include <algorithm>

#include "cpu/binary_matmul/count.hpp"

namespace gpu::cpu {
namespace {

__m256i byte_counts(__m256i bits) {
  const __m256i table = _mm256_setr_epi8(0, 1, 1, 2, 1, 2, 2, 3, 1, 2, 2, 3, 2, 3, 3, 4,  //
                                         0, 1, 1, 2, 1, 2, 2, 3, 1, 2, 2, 3, 2, 3, 3, 4);
  const __m256i nibble = _mm256_set1_epi8(0x0f);
  const __m256i low = _mm256_shuffle_epi8(table, _mm256_and_si256(bits, nibble));
  const __m256i high =
      _mm256_shuffle_epi8(table, _mm256_and_si256(_mm256_srli_epi16(bits, 4), nibble));
  return _mm256_add_epi8(low, high);
}

std::int32_t sum(__m256i quads) {
  const __m128i both =
      _mm_add_epi64(_mm256_castsi256_si128(quads), _mm256_extracti128_si256(quads, 1));
  return static_cast<std::int32_t>(_mm_extract_epi64(both, 0) + _mm_extract_epi64(both, 1));
}

// One row of a with four rows of b.
void count_row(const std::uint64_t* x, bit_rows b, std::int32_t* counts) {
  constexpr index_t most_additions = 31;  // of at most 8 to a byte
  const __m256i zero = _mm256_setzero_si256();
  __m256i totals[bit_block] = {zero, zero, zero, zero};
  const index_t vectors = b.row_words / 4;
  for (index_t start = 0; start < vectors; start += most_additions) {
    const index_t end = std::min(vectors, start + most_additions);
    __m256i bytes[bit_block] = {zero, zero, zero, zero};
    for (index_t v = start; v < end; ++v) {
      const __m256i left = _mm256_load_si256(reinterpret_cast<const __m256i*>(x) + v);
      for (int j = 0; j < bit_block; ++j) {
        const auto* y = reinterpret_cast<const __m256i*>(b.words + j * b.row_words);
        bytes[j] = _mm256_add_epi8(bytes[j],
                                   byte_counts(_mm256_and_si256(left, _mm256_load_si256(y + v))));
      }
    }
    for (int j = 0; j < bit_block; ++j) {
      totals[j] = _mm256_add_epi64(totals[j], _mm256_sad_epu8(bytes[j], zero));
    }
  }
  for (int j = 0; j < bit_block; ++j) counts[j] = sum(totals[j]);
}

void multiply(bit_rows a, bit_rows b, index_t cols, const product_terms& terms, std::int32_t* out,
              index_t stride) {
  for (index_t j = 0; j < cols; j += bit_block) {
    const bit_rows right{b.words + j * b.row_words, b.row_words};
    for (int i = 0; i < bit_block; ++i) {
      std::int32_t counts[bit_block];
      count_row(a.words + i * a.row_words, right, counts);
      for (int x = 0; x < bit_block; ++x) {
        out[i * stride + j + x] =
            terms.scale * counts[x] + terms.row_offsets[i] + terms.col_offsets[j + x];
      }
    }
  }
}

std::int32_t ones(const std::uint64_t* words, index_t count) {
  const __m256i zero = _mm256_setzero_si256();
  __m256i total = zero;
  for (index_t w = 0; w < count; w += 4) {
    const __m256i bits = _mm256_load_si256(reinterpret_cast<const __m256i*>(words + w));
    total = _mm256_add_epi64(total, _mm256_sad_epu8(byte_counts(bits), zero));
  }
  return sum(total);
}

}  // namespace

const bit_kernels avx2_bit_kernels{multiply, ones};

}  // namespace gpu::cpu
