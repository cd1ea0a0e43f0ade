// Four sums stay in tile registers while two tiles of either operand are multiplied: 4 KiB are
// loaded for 64 clocks of products. The right tiles are unpacked between the products, from an
// eighth of the bytes, to the first-level cache; the left ones, once for all columns, to the
// second.
//
// Products alone run at 1024 a clock; with all operands in the first-level cache this order of
// loads reaches 80 % of that, this loop 67 to 76 %. What was slower is in docs/experiments.md.
#include <immintrin.h>

#include "cpu/binary_matmul/tiles.hpp"
#include "cpu/platform/amx_tiles.hpp"

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

// Unpacks one half, 0 or 1, of a word of 16 rows as columns to its 8 rows of the tile.
template <int Half>
inline __attribute__((always_inline)) void unpack_half(const std::uint32_t* words,
                                                       std::uint8_t* tile) {
  const __m512i half = _mm512_load_si512(words + Half * tile_rows);
  const __m512i ones = _mm512_set1_epi32(0x01010101);
  std::uint8_t* const row = tile + Half * 8 * row_bytes;
  _mm512_store_si512(row, _mm512_and_si512(half, ones));
  _mm512_store_si512(row + row_bytes, _mm512_and_si512(_mm512_srli_epi32(half, 1), ones));
  _mm512_store_si512(row + 2 * row_bytes, _mm512_and_si512(_mm512_srli_epi32(half, 2), ones));
  _mm512_store_si512(row + 3 * row_bytes, _mm512_and_si512(_mm512_srli_epi32(half, 3), ones));
  _mm512_store_si512(row + 4 * row_bytes, _mm512_and_si512(_mm512_srli_epi32(half, 4), ones));
  _mm512_store_si512(row + 5 * row_bytes, _mm512_and_si512(_mm512_srli_epi32(half, 5), ones));
  _mm512_store_si512(row + 6 * row_bytes, _mm512_and_si512(_mm512_srli_epi32(half, 6), ones));
  _mm512_store_si512(row + 7 * row_bytes, _mm512_and_si512(_mm512_srli_epi32(half, 7), ones));
}

// The intrinsics of tiles do not say that they read memory.
inline void keep_order() {
  asm volatile("" : : : "memory");
}

// The words of two strips of columns in the order of use: word by word, then the next two strips.
class column_walk {
 public:
  column_walk(laid_columns columns, index_t count, index_t blocks)
      : start_(columns.words),
        at_(columns.words),
        strip_(columns.strip),
        count_(count),
        left_(count * blocks) {}

  [[nodiscard]] const std::uint32_t* first() const { return at_; }
  [[nodiscard]] const std::uint32_t* second() const { return at_ + strip_; }
  // Past the end it stays at the start, where there is something to read.
  void advance() {
    at_ += column_words;
    if (++word_ == count_) {
      word_ = 0;
      at_ += 2 * strip_ - count_ * column_words;
    }
    if (--left_ <= 0) at_ = start_;
  }

 private:
  const std::uint32_t* start_;
  const std::uint32_t* at_;
  index_t strip_;
  index_t count_;
  index_t left_;
  index_t word_ = 0;
};

// The sums of a block, in tiles 0 to 3.
constexpr index_t tile_sums = tile_rows * tile_rows;

inline __attribute__((always_inline)) void clear_sums() {
  _tile_zero(0);
  _tile_zero(1);
  _tile_zero(2);
  _tile_zero(3);
}
inline __attribute__((always_inline)) void load_sums(const std::int32_t* sums) {
  _tile_loadd(0, sums, row_bytes);
  _tile_loadd(1, sums + tile_sums, row_bytes);
  _tile_loadd(2, sums + 2 * tile_sums, row_bytes);
  _tile_loadd(3, sums + 3 * tile_sums, row_bytes);
}
inline __attribute__((always_inline)) void store_sums(std::int32_t* sums) {
  _tile_stored(0, sums, row_bytes);
  _tile_stored(1, sums + tile_sums, row_bytes);
  _tile_stored(2, sums + 2 * tile_sums, row_bytes);
  _tile_stored(3, sums + 3 * tile_sums, row_bytes);
}

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
  // Tiles of columns are unpacked two steps ahead: a load of a tile waits for stores to its lines
  // until they are in the cache. One step ahead is a third slower, four are a quarter.
  constexpr unsigned ahead = 2;
  constexpr unsigned ring_steps = 4;
  alignas(64) std::uint8_t ring[ring_steps][2 * tile_bytes];
  amx_shapes shapes;
  for (int tile = 0; tile < 8; ++tile) shapes.set(tile, tile_rows, row_bytes);
  shapes.load();
  column_walk walk(columns, count, blocks);
  for (unsigned step = 0; step < ahead; ++step, walk.advance()) {
    unpack_half<0>(walk.first(), ring[step]);
    unpack_half<1>(walk.first(), ring[step]);
    unpack_half<0>(walk.second(), ring[step] + tile_bytes);
    unpack_half<1>(walk.second(), ring[step] + tile_bytes);
  }
  keep_order();
  unsigned step = 0;
  for (index_t block = 0; block < blocks; ++block, sums += block_sums) {
    if (fresh) {
      clear_sums();
    } else {
      load_sums(sums);
    }
    for (index_t w = 0; w < count; ++w, ++step, walk.advance()) {
      const std::uint8_t* const left = tiles + w * 2 * tile_bytes;
      const std::uint8_t* const right = ring[step % ring_steps];
      std::uint8_t* const later = ring[(step + ahead) % ring_steps];
      _tile_loadd(4, left, row_bytes);
      _tile_loadd(6, right, row_bytes);
      _tile_dpbuud(0, 4, 6);
      unpack_half<0>(walk.first(), later);
      keep_order();
      _tile_loadd(7, right + tile_bytes, row_bytes);
      _tile_dpbuud(1, 4, 7);
      unpack_half<1>(walk.first(), later);
      keep_order();
      _tile_loadd(5, left + tile_bytes, row_bytes);
      _tile_dpbuud(2, 5, 6);
      unpack_half<0>(walk.second(), later + tile_bytes);
      keep_order();
      _tile_dpbuud(3, 5, 7);
      unpack_half<1>(walk.second(), later + tile_bytes);
      keep_order();
    }
    store_sums(sums);
  }
  keep_order();
  _tile_release();
}

void finish_blocks(const std::int32_t* sums, index_t rows, index_t cols, const product_terms& terms,
                   std::int32_t* out, index_t stride) {
  const __m512i scale = _mm512_set1_epi32(terms.scale);
  for (index_t i = 0; i < rows; ++i) {
    std::int32_t* const to = out + i * stride;
    // Lines of memory start `shift` columns before vectors of products do.
    const auto shift = static_cast<index_t>(reinterpret_cast<std::uintptr_t>(to) / 4 % 16);
    const __m512i from =
        _mm512_add_epi32(_mm512_set1_epi32(static_cast<int>(lanes - shift)),
                         _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15));
    const __m512i own = _mm512_set1_epi32(terms.row_offsets[i]);
    const std::int32_t* const row_sums =
        sums + (i / tile_rows * 2 * tile_rows + i % tile_rows) * tile_rows;
    __m512i before = _mm512_setzero_si512();
    for (index_t col = 0; col < cols + shift; col += lanes) {
      __m512i products = before;  // past the columns there is nothing new
      if (col < cols) {
        const index_t half = col / lanes;
        const __m512i counts =
            _mm512_load_si512(row_sums + half / 2 * block_sums + half % 2 * tile_rows * tile_rows);
        const __m512i offsets = _mm512_add_epi32(_mm512_loadu_si512(terms.col_offsets + col), own);
        products = _mm512_add_epi32(_mm512_mullo_epi32(counts, scale), offsets);
      }
      const __m512i line = _mm512_permutex2var_epi32(before, from, products);
      std::int32_t* const line_start = to + col - shift;
      __mmask16 used = lanes_before(cols - col + shift);
      if (col == 0) used = static_cast<__mmask16>(used & (0xffffu << shift));
      _mm512_mask_storeu_epi32(line_start, used, line);
      before = products;
    }
  }
}

}  // namespace gpu::cpu
