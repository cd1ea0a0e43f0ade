// Four sums stay in tile registers while two tiles of either operand meet: 4 KiB loaded for 64
// clocks of products. 16 words (1,024 bits) of the left strips stay in the first-level cache while
// all columns pass, the right panel in the second; between such blocks the sums are in memory.
#include <immintrin.h>

#include "cpu/amx_tiles.hpp"
#include "cpu/binary_tiles.hpp"

namespace gpu::cpu {
namespace {

constexpr index_t words_at_once = 16;
constexpr int row_bytes = 64;
constexpr index_t lanes = 16;

__mmask16 lanes_before(index_t end) {
  return static_cast<__mmask16>(end < lanes ? (1u << end) - 1 : 0xffffu);
}

__m512i shifts() {
  return _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 0, 1, 2, 3, 4, 5, 6, 7);
}

__m512i ones_of(__m512i words, __m512i shift) {
  return _mm512_and_si512(_mm512_srlv_epi32(words, shift), _mm512_set1_epi32(0x01010101));
}

}  // namespace

void unpack_left_tiles(bit_rows rows, index_t first, index_t count, std::uint8_t* tiles) {
  const __m512i halves = _mm512_setr_epi32(0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1);
  for (index_t w = 0; w < count; ++w) {
    for (index_t i = 0; i < tile_rows; ++i) {
      const std::uint64_t word = rows.words[i * rows.row_words + first + w];
      const __m512i both = _mm512_set1_epi64(static_cast<long long>(word));
      _mm512_store_si512(tiles + w * tile_bytes + i * row_bytes,
                         ones_of(_mm512_permutexvar_epi32(halves, both), shifts()));
    }
  }
}

void unpack_right_tiles(bit_rows rows, index_t first, index_t count, std::uint8_t* tiles) {
  const __m512i low = _mm512_setr_epi32(0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30);
  const __m512i high = _mm512_add_epi32(low, _mm512_set1_epi32(1));
  for (index_t w = 0; w < count; ++w) {
    alignas(64) std::uint64_t words[tile_rows];
    for (index_t i = 0; i < tile_rows; ++i) {
      words[i] = rows.words[i * rows.row_words + first + w];
    }
    const __m512i front = _mm512_load_si512(words);
    const __m512i back = _mm512_load_si512(words + 8);
    const __m512i halves[2] = {_mm512_permutex2var_epi32(front, low, back),
                               _mm512_permutex2var_epi32(front, high, back)};
    for (int q = 0; q < tile_rows; ++q) {
      _mm512_store_si512(tiles + w * tile_bytes + q * row_bytes,
                         ones_of(halves[q / 8], _mm512_set1_epi32(q % 8)));
    }
  }
}

void count_on_tiles(const std::uint8_t* left, const std::uint8_t* right, index_t words,
                    index_t cols, std::int32_t* counts) {
  amx_shapes shapes;
  for (int tile = 0; tile < 8; ++tile) shapes.set(tile, tile_rows, row_bytes);
  shapes.load();
  // The intrinsics do not say that they read memory: what was unpacked is to be there.
  asm volatile("" : : : "memory");
  const index_t strip = words * tile_bytes;
  const auto stride = static_cast<std::size_t>(cols) * sizeof(std::int32_t);
  for (index_t from = 0; from < words; from += words_at_once) {
    const index_t end = from + words_at_once < words ? from + words_at_once : words;
    for (index_t j = 0; j < cols; j += tile_block) {
      std::int32_t* const sums = counts + j;
      std::int32_t* const lower = sums + tile_rows * cols;
      if (from == 0) {
        _tile_zero(0);
        _tile_zero(1);
        _tile_zero(2);
        _tile_zero(3);
      } else {
        _tile_loadd(0, sums, stride);
        _tile_loadd(1, sums + tile_rows, stride);
        _tile_loadd(2, lower, stride);
        _tile_loadd(3, lower + tile_rows, stride);
      }
      const std::uint8_t* const columns = right + j / tile_rows * strip;
      for (index_t w = from; w < end; ++w) {
        _tile_loadd(4, left + w * tile_bytes, row_bytes);
        _tile_loadd(6, columns + w * tile_bytes, row_bytes);
        _tile_dpbuud(0, 4, 6);
        _tile_loadd(7, columns + strip + w * tile_bytes, row_bytes);
        _tile_dpbuud(1, 4, 7);
        _tile_loadd(5, left + strip + w * tile_bytes, row_bytes);
        _tile_dpbuud(2, 5, 6);
        _tile_dpbuud(3, 5, 7);
      }
      _tile_stored(0, sums, stride);
      _tile_stored(1, sums + tile_rows, stride);
      _tile_stored(2, lower, stride);
      _tile_stored(3, lower + tile_rows, stride);
    }
  }
  _tile_release();
}

void add_counts(const std::int32_t* counts, index_t count, std::int32_t* sums) {
  for (index_t i = 0; i < count; i += lanes) {
    const __mmask16 used = lanes_before(count - i);
    const __m512i sum = _mm512_add_epi32(_mm512_maskz_loadu_epi32(used, sums + i),
                                         _mm512_maskz_loadu_epi32(used, counts + i));
    _mm512_mask_storeu_epi32(sums + i, used, sum);
  }
}

void finish_counts(const std::int32_t* counts, index_t count, int scale, std::int32_t own,
                   const std::int32_t* offsets, std::int32_t* out) {
  const __m512i scales = _mm512_set1_epi32(scale);
  const __m512i owns = _mm512_set1_epi32(own);
  for (index_t i = 0; i < count; i += lanes) {
    const __mmask16 used = lanes_before(count - i);
    const __m512i scaled = _mm512_mullo_epi32(_mm512_maskz_loadu_epi32(used, counts + i), scales);
    const __m512i offset = _mm512_add_epi32(_mm512_maskz_loadu_epi32(used, offsets + i), owns);
    _mm512_mask_storeu_epi32(out + i, used, _mm512_add_epi32(scaled, offset));
  }
}

}  // namespace gpu::cpu
