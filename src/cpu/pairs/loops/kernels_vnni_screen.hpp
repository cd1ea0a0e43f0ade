// The 8-bit screen with VNNI alone. Included inside the unnamed namespace of a file compiled for
// AVX-512 with VNNI, after cpu/pairs/loops/kernel_screen_body.hpp.
//
// Steps is the number of steps of 4 bytes, or 0 where only the tile knows it. Known at compile
// time, as for the common 29 to 32 columns, the addresses cost nothing: 7.3e9 instead of 5.8e9
// pairs/s and thread on Zen 4, one multiply-add a clock.
//
// 8 rows against 32 columns: two multiply-adds for each broadcast of a row's step. Measured on
// Sapphire Rapids at 32 columns, one thread, in 1e9 pairs/s: 8x2 8.5, 4x4 8.6, 12x2 8.3, 16x1 7.4,
// 24x1 7.4, 28x1 8.5; blocks whose sums do not fit the registers 4 to 5.

template <index_t Steps>
struct vnni_screen_block {
  using vector = __m512i;
  static constexpr index_t rows = 8;
  static constexpr index_t groups = 2;

  static inline __attribute__((always_inline)) void multiply(const screen_tile& tile, index_t row,
                                                             index_t group,
                                                             vector (&sum)[rows][groups]) {
    const index_t count = Steps > 0 ? Steps : tile.steps;
    const index_t group_bytes = count * group_lanes * step_bytes;
    const std::uint8_t* first = tile.columns + group * group_bytes;
    const std::uint8_t* second = first + group_bytes;
    const std::uint8_t* steps = tile.row_steps + row * count * step_bytes;
    for (int i = 0; i < rows; ++i) {
      sum[i][0] = sum[i][1] = _mm512_set1_epi32(tile.row_bias[row + i]);
    }
    for (index_t k = 0; k < count; ++k) {
      const __m512i a = _mm512_load_si512(first + k * group_lanes * step_bytes);
      const __m512i b = _mm512_load_si512(second + k * group_lanes * step_bytes);
      for (int i = 0; i < rows; ++i) {
        int value;
        __builtin_memcpy(&value, steps + (i * count + k) * step_bytes, sizeof value);
        const __m512i row_step = _mm512_set1_epi32(value);
        sum[i][0] = _mm512_dpbusd_epi32(sum[i][0], a, row_step);
        sum[i][1] = _mm512_dpbusd_epi32(sum[i][1], b, row_step);
      }
    }
  }

  static inline __attribute__((always_inline)) vector spread(std::uint32_t limit) {
    return _mm512_set1_epi32(static_cast<int>(limit));
  }
  static inline __attribute__((always_inline)) vector most(vector a, vector b) {
    return _mm512_max_epu32(a, b);
  }
  static inline __attribute__((always_inline)) bool any(vector sum, vector limit) {
    return _mm512_cmpge_epu32_mask(sum, limit) != 0;
  }
  static constexpr int bits_per_lane = 1;
  static inline __attribute__((always_inline)) std::uint32_t lanes(vector sum, vector limit) {
    return _mm512_cmpge_epu32_mask(sum, limit);
  }
};

struct vnni_screen {
  static void search(const screen_tile& tile, const exact_test& test) {
    if (tile.steps == 8) return screen_body<vnni_screen_block<8>>::search(tile, test);
    screen_body<vnni_screen_block<0>>::search(tile, test);
  }
};
