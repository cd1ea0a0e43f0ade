// Four sums stay in tile registers while two tiles of either operand meet: 4 KiB loaded for 64
// clocks of products, which the first-level cache delivers and the second does not. So the left
// tiles of a stretch of words stay in the first-level cache while all columns pass, and the right
// ones are unpacked there, from an eighth of the bytes, two steps before they are multiplied: the
// vector units have little else to do. Between stretches the sums are in memory.
#include <immintrin.h>

#include "cpu/amx_tiles.hpp"
#include "cpu/binary_tiles.hpp"

namespace gpu::cpu {
namespace {

constexpr int row_bytes = 64;
constexpr index_t lanes = 16;

__mmask16 lanes_before(index_t end) {
  return static_cast<__mmask16>(end < lanes ? (1u << end) - 1 : 0xffffu);
}

__m512i shifts() {
  return _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 0, 1, 2, 3, 4, 5, 6, 7);
}

template <int Shift>
inline __attribute__((always_inline)) void unpack_shifted(__m512i low, __m512i high,
                                                          std::uint8_t* tile) {
  const __m512i ones = _mm512_set1_epi32(0x01010101);
  _mm512_store_si512(tile + Shift * row_bytes,
                     _mm512_and_si512(_mm512_srli_epi32(low, Shift), ones));
  _mm512_store_si512(tile + (8 + Shift) * row_bytes,
                     _mm512_and_si512(_mm512_srli_epi32(high, Shift), ones));
}

inline __attribute__((always_inline)) void unpack_columns(const std::uint32_t* words,
                                                          std::uint8_t* tile) {
  const __m512i low = _mm512_load_si512(words);
  const __m512i high = _mm512_load_si512(words + tile_rows);
  unpack_shifted<0>(low, high, tile);
  unpack_shifted<1>(low, high, tile);
  unpack_shifted<2>(low, high, tile);
  unpack_shifted<3>(low, high, tile);
  unpack_shifted<4>(low, high, tile);
  unpack_shifted<5>(low, high, tile);
  unpack_shifted<6>(low, high, tile);
  unpack_shifted<7>(low, high, tile);
}

// The tiles of the columns in the order of use, unpacked some steps ahead of it: a load of a tile
// waits for stores to its lines until they are in the cache.
class column_tiles {
 public:
  column_tiles(laid_columns columns, index_t count, index_t blocks)
      : next_(columns.words), strip_(columns.strip), count_(count), left_(count * blocks) {
    for (int step = 0; step < ahead; ++step) unpack();
  }

  // The two tiles of the next step.
  const std::uint8_t* take() {
    unpack();
    return ring_[taken_++ % ring_steps];
  }

 private:
  static constexpr int ahead = 2;
  static constexpr unsigned ring_steps = 4;

  inline __attribute__((always_inline)) void unpack() {
    if (left_ == 0) return;
    --left_;
    std::uint8_t* const tiles = ring_[unpacked_++ % ring_steps];
    unpack_columns(next_, tiles);
    unpack_columns(next_ + strip_, tiles + tile_bytes);
    next_ += column_words;
    if (++word_ == count_) {
      word_ = 0;
      next_ += 2 * strip_ - count_ * column_words;
    }
    // The intrinsics of tiles do not say that they read memory.
    asm volatile("" : : : "memory");
  }

  alignas(64) std::uint8_t ring_[ring_steps][2 * tile_bytes];
  const std::uint32_t* next_;
  index_t strip_;
  index_t count_;
  index_t left_;  // steps to unpack
  index_t word_ = 0;
  unsigned unpacked_ = 0;
  unsigned taken_ = 0;
};

}  // namespace

void lay_columns(bit_rows rows, std::uint32_t* columns) {
  for (index_t w = 0; w < rows.row_words; ++w) {
    for (index_t i = 0; i < tile_rows; ++i) {
      const std::uint64_t word = rows.words[i * rows.row_words + w];
      columns[w * column_words + i] = static_cast<std::uint32_t>(word);
      columns[w * column_words + tile_rows + i] = static_cast<std::uint32_t>(word >> 32);
    }
  }
}

void unpack_rows(bit_rows rows, index_t first, index_t count, std::uint8_t* tiles) {
  const __m512i halves = _mm512_setr_epi32(0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1);
  const __m512i ones = _mm512_set1_epi32(0x01010101);
  for (index_t w = 0; w < count; ++w) {
    for (index_t i = 0; i < tile_block; ++i) {
      const std::uint64_t word = rows.words[i * rows.row_words + first + w];
      const __m512i both = _mm512_set1_epi64(static_cast<long long>(word));
      const __m512i shifted = _mm512_srlv_epi32(_mm512_permutexvar_epi32(halves, both), shifts());
      _mm512_store_si512(tiles + w * 2 * tile_bytes + i * row_bytes,
                         _mm512_and_si512(shifted, ones));
    }
  }
}

void count_on_tiles(const std::uint8_t* tiles, laid_columns columns, index_t count, index_t blocks,
                    bool fresh, std::int32_t* sums) {
  amx_shapes shapes;
  for (int tile = 0; tile < 8; ++tile) shapes.set(tile, tile_rows, row_bytes);
  shapes.load();
  column_tiles right(columns, count, blocks);
  for (index_t block = 0; block < blocks; ++block, sums += block_sums) {
    constexpr index_t tile_sums = tile_rows * tile_rows;
    if (fresh) {
      _tile_zero(0);
      _tile_zero(1);
      _tile_zero(2);
      _tile_zero(3);
    } else {
      _tile_loadd(0, sums, row_bytes);
      _tile_loadd(1, sums + tile_sums, row_bytes);
      _tile_loadd(2, sums + 2 * tile_sums, row_bytes);
      _tile_loadd(3, sums + 3 * tile_sums, row_bytes);
    }
    for (index_t w = 0; w < count; ++w) {
      const std::uint8_t* const left = tiles + w * 2 * tile_bytes;
      const std::uint8_t* const pair = right.take();
      _tile_loadd(4, left, row_bytes);
      _tile_loadd(6, pair, row_bytes);
      _tile_dpbuud(0, 4, 6);
      _tile_loadd(7, pair + tile_bytes, row_bytes);
      _tile_dpbuud(1, 4, 7);
      _tile_loadd(5, left + tile_bytes, row_bytes);
      _tile_dpbuud(2, 5, 6);
      _tile_dpbuud(3, 5, 7);
    }
    _tile_stored(0, sums, row_bytes);
    _tile_stored(1, sums + tile_sums, row_bytes);
    _tile_stored(2, sums + 2 * tile_sums, row_bytes);
    _tile_stored(3, sums + 3 * tile_sums, row_bytes);
  }
  asm volatile("" : : : "memory");
  _tile_release();
}

void finish_block(const std::int32_t* sums, index_t rows, index_t cols, const product_terms& terms,
                  std::int32_t* out, index_t stride) {
  const __m512i scale = _mm512_set1_epi32(terms.scale);
  for (index_t half = 0; half * lanes < cols; ++half) {
    const __mmask16 used = lanes_before(cols - half * lanes);
    const __m512i offsets = _mm512_loadu_si512(terms.col_offsets + half * lanes);
    for (index_t i = 0; i < rows; ++i) {
      const index_t tile = i / tile_rows * 2 + half;
      const __m512i counts =
          _mm512_load_si512(sums + (tile * tile_rows + i % tile_rows) * tile_rows);
      const __m512i offset = _mm512_add_epi32(offsets, _mm512_set1_epi32(terms.row_offsets[i]));
      _mm512_mask_storeu_epi32(out + i * stride + half * lanes, used,
                               _mm512_add_epi32(_mm512_mullo_epi32(counts, scale), offset));
    }
  }
}

}  // namespace gpu::cpu
