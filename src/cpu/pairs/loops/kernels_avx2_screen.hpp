// The 8-bit screen with 256-bit products (vpmaddubsw). Included inside the unnamed namespace of a
// file compiled for AVX2, after cpu/pairs/loops/kernel_screen_body.hpp.
//
// A lane of 16 bits is a column: a step multiplies two bytes of 16 columns by the two of a row and
// adds the pairs of products, which never saturate (byte_pair_offset), to sums that may wrap
// around. The final sums fit (byte_pair_length), so the intermediate wraps do not matter.
//
// Steps is the number of steps of two bytes, or 0 for what the tile says. 4 rows against 32 columns
// are 8 sums, 2 columns, a row and a product: 12 of 16 registers.

template <index_t Steps>
struct byte_pair_block {
  using vector = __m256i;
  static constexpr index_t rows = 4;
  static constexpr index_t groups = 2;
  static constexpr index_t column_bytes = group_lanes * 2;  // of a step

  static inline __attribute__((always_inline)) void multiply(const screen_tile& tile, index_t row,
                                                             index_t group,
                                                             vector (&sum)[rows][groups]) {
    const index_t count = Steps > 0 ? Steps : tile.steps;
    const std::uint8_t* first = tile.columns + group * count * column_bytes;
    const std::uint8_t* second = first + count * column_bytes;
    const std::uint8_t* steps = tile.row_steps + row * count * step_bytes;
    for (int i = 0; i < rows; ++i) {
      sum[i][0] = sum[i][1] = _mm256_set1_epi16(static_cast<short>(tile.row_bias[row + i]));
    }
    const auto step = [&](index_t k) __attribute__((always_inline)) {
      const __m256i a =
          _mm256_load_si256(reinterpret_cast<const __m256i*>(first + k * column_bytes));
      const __m256i b =
          _mm256_load_si256(reinterpret_cast<const __m256i*>(second + k * column_bytes));
      for (int i = 0; i < rows; ++i) {
        int value;
        __builtin_memcpy(&value, steps + (i * count + k) * step_bytes, sizeof value);
        const __m256i row_step = _mm256_set1_epi32(value);
        sum[i][0] = _mm256_add_epi16(sum[i][0], _mm256_maddubs_epi16(a, row_step));
        sum[i][1] = _mm256_add_epi16(sum[i][1], _mm256_maddubs_epi16(b, row_step));
        // Keeps the rows in turn: products that are made ahead of their sums do not fit the
        // registers.
        asm volatile("" : "+x"(sum[i][0]), "+x"(sum[i][1]));
      }
    };
    if constexpr (Steps > 0) {
#pragma GCC unroll 32
      for (index_t k = 0; k < Steps; ++k) step(k);
    } else {
      for (index_t k = 0; k < count; ++k) step(k);
    }
  }

  static inline __attribute__((always_inline)) vector spread(std::uint32_t limit) {
    return _mm256_set1_epi16(static_cast<short>(limit));
  }
  static inline __attribute__((always_inline)) vector most(vector a, vector b) {
    return _mm256_max_epu16(a, b);
  }
  // Two bits of each lane that reaches the limit.
  static inline __attribute__((always_inline)) std::uint32_t reached(vector sum, vector limit) {
    return static_cast<std::uint32_t>(
        _mm256_movemask_epi8(_mm256_cmpeq_epi16(most(sum, limit), sum)));
  }
  static inline __attribute__((always_inline)) bool any(vector sum, vector limit) {
    return reached(sum, limit) != 0;
  }
  static constexpr int bits_per_lane = 2;
  static inline __attribute__((always_inline)) std::uint32_t lanes(vector sum, vector limit) {
    return reached(sum, limit) & 0x55555555u;
  }
};

template <index_t Steps>
using byte_pair_screen = screen_body<byte_pair_block<Steps>>;
