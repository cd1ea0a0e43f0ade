#define GPU_SIMILARITY_LEVEL avx2
#define GPU_SIMILARITY_VECTOR_BYTES 32
#include "cpu/rank/counting_body.hpp"

#include <immintrin.h>

namespace gpu::cpu::avx2 {
namespace {

// As count_strip of bytes: the sign of a saturated difference in place of two comparisons.
void count_average_bytes(const std::int8_t* keys, int cols, std::int8_t* counts) {
  const __m256i one = _mm256_set1_epi8(1);
  for (int half = 0; half < counting_block_rows; half += 32) {
    const auto at = [half](auto* from, int col) {
      return reinterpret_cast<__m256i*>(const_cast<std::int8_t*>(from) + col * counting_block_rows +
                                        half);
    };
    for (int i = 0; i < cols; ++i) _mm256_store_si256(at(counts, i), _mm256_setzero_si256());
    for (int i = 0; i < cols; ++i) {
      const __m256i key = _mm256_load_si256(at(keys, i));
      __m256i count = _mm256_load_si256(at(counts, i));
      for (int j = i + 1; j < cols; ++j) {
        const __m256i sign =
            _mm256_sign_epi8(one, _mm256_subs_epi8(key, _mm256_load_si256(at(keys, j))));
        count = _mm256_add_epi8(count, sign);
        _mm256_store_si256(at(counts, j), _mm256_sub_epi8(_mm256_load_si256(at(counts, j)), sign));
      }
      _mm256_store_si256(at(counts, i), count);
    }
  }
}

void count_bytes(tie_method ties, const std::int8_t* keys, int cols, std::int8_t* counts) {
  if (ties == tie_method::average) return count_average_bytes(keys, cols, counts);
  count(ties, keys, cols, counts);
}

}  // namespace

const counting_kernels kernels{
    count_bytes, count<std::int16_t>, count<std::int32_t>, count<std::int64_t>, narrow, widen};

}  // namespace gpu::cpu::avx2
