#define GPU_SIMILARITY_LEVEL avx512
#define GPU_SIMILARITY_VECTOR_BYTES 64
#define GPU_SIMILARITY_OWN_KERNELS
#include "cpu/rank/counting_body.hpp"

#include <immintrin.h>

namespace gpu::cpu::avx512 {
namespace {

// As count_strip of bytes: saturated differences are cut to -1, 0 or 1, in place of comparisons,
// whose masks would have to be turned back into vectors. Each load of a column serves two.
void count_average_bytes(const std::int8_t* keys, int cols, std::int8_t* counts) {
  const __m512i most = _mm512_set1_epi8(1);
  const __m512i least = _mm512_set1_epi8(-1);
  const auto load = [](const std::int8_t* from, int col) {
    return _mm512_load_si512(from + col * counting_block_rows);
  };
  const auto store = [counts](int col, __m512i value) {
    _mm512_store_si512(counts + col * counting_block_rows, value);
  };
  const auto sign = [&](__m512i a, __m512i b) {
    return _mm512_min_epi8(_mm512_max_epi8(_mm512_subs_epi8(a, b), least), most);
  };
  for (int i = 0; i < cols; ++i) store(i, _mm512_setzero_si512());
  int i = 0;
  for (; i + 1 < cols; i += 2) {
    const __m512i key[2] = {load(keys, i), load(keys, i + 1)};
    const __m512i own = sign(key[0], key[1]);
    __m512i count[2] = {_mm512_add_epi8(load(counts, i), own),
                        _mm512_sub_epi8(load(counts, i + 1), own)};
    for (int j = i + 2; j < cols; ++j) {
      const __m512i other = load(keys, j);
      const __m512i first = sign(key[0], other);
      const __m512i second = sign(key[1], other);
      count[0] = _mm512_add_epi8(count[0], first);
      count[1] = _mm512_add_epi8(count[1], second);
      store(j, _mm512_sub_epi8(load(counts, j), _mm512_add_epi8(first, second)));
    }
    store(i, count[0]);
    store(i + 1, count[1]);
  }
}

void count_bytes(tie_method ties, const std::int8_t* keys, int cols, std::int8_t* counts) {
  if (ties == tie_method::average) return count_average_bytes(keys, cols, counts);
  count(ties, keys, cols, counts);
}

constexpr int word_lanes = 16;
constexpr int double_lanes = 8;

bool narrow_rows(const std::int32_t* values, index_t stride, int rows, int cols, std::int32_t flip,
                 std::int8_t* out, index_t pitch) {
  const __m512i flips = _mm512_set1_epi32(flip);
  const __m512i half = _mm512_set1_epi32(128);
  __m512i outside = half;
  for (int row = 0; row < rows; ++row) {
    const std::int32_t* value = values + row * stride;
    const std::int32_t start = value[0] ^ flip;
    if (is_near_end(start)) return false;
    const __m512i first = _mm512_set1_epi32(start);
    for (int col = 0; col < cols; col += word_lanes) {
      // The rows that most likely come next are prefetched: nothing else reads memory while these
      // are counted.
      _mm_prefetch(reinterpret_cast<const char*>(value + rows * stride + col), _MM_HINT_T1);
      const int left = cols - col;
      const auto used = static_cast<__mmask16>(left < word_lanes ? (1u << left) - 1 : 0xffffu);
      const __m512i key = _mm512_xor_si512(_mm512_maskz_loadu_epi32(used, value + col), flips);
      const __m512i distance = _mm512_maskz_sub_epi32(used, key, first);
      outside = _mm512_or_si512(outside, _mm512_add_epi32(distance, half));
      _mm_store_si128(reinterpret_cast<__m128i*>(out + row * pitch + col),
                      _mm512_cvtepi32_epi8(distance));
    }
  }
  return _mm512_test_epi32_mask(outside, _mm512_set1_epi32(~0xff)) == 0;
}

inline void widen_row(const std::int8_t* counts, int cols, __m512d scale, __m512d offset,
                      double* out) {
  for (int col = 0; col < cols; col += double_lanes) {
    const int left = cols - col;
    const auto used = static_cast<__mmask8>(left < double_lanes ? (1u << left) - 1 : 0xffu);
    const __m128i bytes = _mm_loadl_epi64(reinterpret_cast<const __m128i*>(counts + col));
    const __m512d count = _mm512_cvtepi32_pd(_mm256_cvtepi8_epi32(bytes));
    _mm512_mask_storeu_pd(out + col, used, _mm512_add_pd(_mm512_mul_pd(count, scale), offset));
  }
}

// Ordinary stores: past the caches they take a fifth longer, because a fresh page was just cleared
// in the cache.
void widen_rows(const std::int8_t* counts, index_t pitch, int rows, int cols, double scale,
                double offset, double* out, index_t stride) {
  const __m512d scales = _mm512_set1_pd(scale);
  const __m512d offsets = _mm512_set1_pd(offset);
  for (int row = 0; row < rows; ++row) {
    widen_row(counts + row * pitch, cols, scales, offsets, out + row * stride);
  }
}

}  // namespace

const counting_kernels kernels{count_bytes,         count<std::int16_t>, count<std::int32_t>,
                               count<std::int64_t>, narrow_rows,         widen_rows};

}  // namespace gpu::cpu::avx512
