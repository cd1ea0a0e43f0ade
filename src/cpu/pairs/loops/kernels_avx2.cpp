// All-pairs kernels for AVX2 and FMA: 16 lanes are two 256-bit registers.
#include <immintrin.h>

#include "cpu/pairs/loops/kernels.hpp"
#include "stats/shared_columns.hpp"
#include "stats/statistic.hpp"

namespace gpu::cpu {
namespace {

#include "cpu/pairs/loops/kernel_body.hpp"
#include "cpu/pairs/loops/kernel_screen_body.hpp"
#include "cpu/pairs/loops/kernels_avx2_screen.hpp"
#include "cpu/pairs/loops/kernels_mask_body.hpp"
#include "cpu/pairs/loops/kernels_pairwise_body.hpp"
#include "cpu/pairs/loops/kernels_products_body.hpp"
#include "cpu/pairs/loops/kernels_rounding_body.hpp"
#include "cpu/pairs/loops/kernels_unit_row_body.hpp"

struct avx2_pairwise {
  using vec = __m256d;
  static constexpr index_t lanes = 4;
  static constexpr int rows = 2;
  static vec zero() { return _mm256_setzero_pd(); }
  static vec load(const double* p) { return _mm256_loadu_pd(p); }
  static vec spread(const double* p) { return _mm256_broadcast_sd(p); }
  static vec multiply(vec a, vec b) { return _mm256_mul_pd(a, b); }
  static vec fused(vec a, vec b, vec c) { return _mm256_fmadd_pd(a, b, c); }
  static void store(double* p, vec a) { _mm256_storeu_pd(p, a); }
};

struct avx2_masks : avx2_pairwise {
  static constexpr int product_rows = 4;
  using ints = __m256i;
  static constexpr index_t int16_lanes = 16;
  static ints no_ints() { return _mm256_setzero_si256(); }
  static ints load_ints(const std::int16_t* p) {
    return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(p));
  }
  static ints load_ints(const std::int8_t* p) {
    return _mm256_cvtepi8_epi16(_mm_load_si128(reinterpret_cast<const __m128i*>(p)));
  }
  static ints add_products(ints sum, ints a, ints b) {
    return _mm256_add_epi32(sum, _mm256_madd_epi16(a, b));
  }
  static void totals(const ints (&sums)[4], std::int32_t (&out)[4]) {
    const ints all =
        _mm256_hadd_epi32(_mm256_hadd_epi32(sums[0], sums[1]), _mm256_hadd_epi32(sums[2], sums[3]));
    _mm_storeu_si128(reinterpret_cast<__m128i*>(out),
                     _mm_add_epi32(_mm256_castsi256_si128(all), _mm256_extracti128_si256(all, 1)));
  }
};

struct avx2_lanes {
  static constexpr int rows = 4;
  static constexpr int groups = 1;
  struct real {
    __m256 low, high;
  };
  struct integers {
    __m256i low, high;
  };
  using counter = integers;

  static real load_real(const float* p) { return {_mm256_loadu_ps(p), _mm256_loadu_ps(p + 8)}; }
  static void store_real(real x, float* p) {
    _mm256_storeu_ps(p, x.low);
    _mm256_storeu_ps(p + 8, x.high);
  }
  static real spread(float x) { return {_mm256_set1_ps(x), _mm256_set1_ps(x)}; }
  static __m256 with_sign(__m256 x, std::uint32_t flip, std::uint32_t keep) {
    const __m256 f = _mm256_castsi256_ps(_mm256_set1_epi32(static_cast<int>(flip)));
    const __m256 k = _mm256_castsi256_ps(_mm256_set1_epi32(static_cast<int>(keep)));
    return _mm256_and_ps(_mm256_xor_ps(x, f), k);
  }
  static real signed_real(real x, std::uint32_t flip, std::uint32_t keep) {
    return {with_sign(x.low, flip, keep), with_sign(x.high, flip, keep)};
  }
  static real margin(real cut, real scale, real x) {
    return {_mm256_fnmadd_ps(cut.low, scale.low, x.low),
            _mm256_fnmadd_ps(cut.high, scale.high, x.high)};
  }
  static real least(real a, real b) {
    return {_mm256_min_ps(a.low, b.low), _mm256_min_ps(a.high, b.high)};
  }
  static real most(real a, real b) {
    return {_mm256_max_ps(a.low, b.low), _mm256_max_ps(a.high, b.high)};
  }
  static real magnitude(real a) { return signed_real(a, 0, 0x7fffffffu); }
  static bool any_at_most(real a, float b) {
    const __m256 least_of = _mm256_min_ps(a.low, a.high);
    return _mm256_movemask_ps(_mm256_cmp_ps(least_of, _mm256_set1_ps(b), _CMP_LE_OQ)) != 0;
  }
  static bool any_at_least(real a, float b) {
    const __m256 most_of = _mm256_max_ps(a.low, a.high);
    return _mm256_movemask_ps(_mm256_cmp_ps(most_of, _mm256_set1_ps(b), _CMP_GE_OQ)) != 0;
  }
  static std::uint32_t bits_at_least(real a, float b) {
    const __m256 bound = _mm256_set1_ps(b);
    const int low = _mm256_movemask_ps(_mm256_cmp_ps(a.low, bound, _CMP_GE_OQ));
    const int high = _mm256_movemask_ps(_mm256_cmp_ps(a.high, bound, _CMP_GE_OQ));
    return static_cast<std::uint32_t>(low | (high << 8));
  }
  static std::uint32_t bits_not_negative(real a) {
    const int negative = _mm256_movemask_ps(a.low) | (_mm256_movemask_ps(a.high) << 8);
    return static_cast<std::uint32_t>(~negative) & 0xffffu;
  }
  static counter no_counts() { return {_mm256_setzero_si256(), _mm256_setzero_si256()}; }
  // Lane l of the mask as 0 or -1.
  static __m256i lanes_of(std::uint32_t bits) {
    const __m256i lane_bit = _mm256_setr_epi32(1, 2, 4, 8, 16, 32, 64, 128);
    const __m256i all = _mm256_set1_epi32(static_cast<int>(bits));
    return _mm256_cmpeq_epi32(_mm256_and_si256(all, lane_bit), lane_bit);
  }
  static void add_bits(counter& c, std::uint32_t bits) {
    c.low = _mm256_sub_epi32(c.low, lanes_of(bits & 0xffu));
    c.high = _mm256_sub_epi32(c.high, lanes_of(bits >> 8));
  }
  static void add_counts(counter c, std::uint32_t* p) {
    auto* at = reinterpret_cast<__m256i*>(p);
    _mm256_storeu_si256(at, _mm256_add_epi32(_mm256_loadu_si256(at), c.low));
    _mm256_storeu_si256(at + 1, _mm256_add_epi32(_mm256_loadu_si256(at + 1), c.high));
  }
};

struct avx2_int16 : avx2_lanes {
  using sum = integers;
  using column = integers;
  static sum zero() { return no_counts(); }
  static column load(const std::uint8_t* p) {
    const auto* at = reinterpret_cast<const __m256i*>(p);
    return {_mm256_load_si256(at), _mm256_load_si256(at + 1)};
  }
  static void accumulate(sum& s, column c, const std::uint8_t* p) {
    int value;
    __builtin_memcpy(&value, p, sizeof value);
    const __m256i row = _mm256_set1_epi32(value);
    s.low = _mm256_add_epi32(s.low, _mm256_madd_epi16(c.low, row));
    s.high = _mm256_add_epi32(s.high, _mm256_madd_epi16(c.high, row));
  }
  static real to_real(sum s) { return {_mm256_cvtepi32_ps(s.low), _mm256_cvtepi32_ps(s.high)}; }
  static void store(sum s, std::int32_t* p) {
    auto* at = reinterpret_cast<__m256i*>(p);
    _mm256_storeu_si256(at, s.low);
    _mm256_storeu_si256(at + 1, s.high);
  }
  static void add_four(__m128i sums, double* p) {
    _mm256_storeu_pd(p, _mm256_add_pd(_mm256_loadu_pd(p), _mm256_cvtepi32_pd(sums)));
  }
  static void add_to(sum s, double* p) {
    add_four(_mm256_castsi256_si128(s.low), p);
    add_four(_mm256_extracti128_si256(s.low, 1), p + 4);
    add_four(_mm256_castsi256_si128(s.high), p + 8);
    add_four(_mm256_extracti128_si256(s.high, 1), p + 12);
  }
};

struct avx2_float32 : avx2_lanes {
  using sum = real;
  using column = real;
  static sum zero() { return {_mm256_setzero_ps(), _mm256_setzero_ps()}; }
  static column load(const std::uint8_t* p) { return load_real(reinterpret_cast<const float*>(p)); }
  static void accumulate(sum& s, column c, const std::uint8_t* p) {
    float value;
    __builtin_memcpy(&value, p, sizeof value);
    const __m256 row = _mm256_set1_ps(value);
    s.low = _mm256_fmadd_ps(c.low, row, s.low);
    s.high = _mm256_fmadd_ps(c.high, row, s.high);
  }
  static real to_real(sum s) { return s; }
  static void store(sum s, std::int32_t* p) { store_real(s, reinterpret_cast<float*>(p)); }
};

// Partial sums 0 to 3 and 4 to 7.
inline double combine(__m256d low, __m256d high) {
  const __m256d four = _mm256_add_pd(low, high);
  const __m128d two = _mm_add_pd(_mm256_castpd256_pd128(four), _mm256_extractf128_pd(four, 1));
  return _mm_cvtsd_f64(_mm_add_sd(two, _mm_unpackhi_pd(two, two)));
}

template <std::size_t Rows, std::size_t Cols>
inline __attribute__((always_inline)) void ordered_block(const double* x, const double* y,
                                                         index_t length, double* out,
                                                         index_t out_stride) {
  __m256d low[Rows][Cols];
  __m256d high[Rows][Cols];
  for (std::size_t i = 0; i < Rows; ++i) {
    for (std::size_t j = 0; j < Cols; ++j) low[i][j] = high[i][j] = _mm256_setzero_pd();
  }
  for (index_t k = 0; k < length; k += 8) {
    for (std::size_t i = 0; i < Rows; ++i) {
      const __m256d a_low = _mm256_loadu_pd(x + static_cast<index_t>(i) * length + k);
      const __m256d a_high = _mm256_loadu_pd(x + static_cast<index_t>(i) * length + k + 4);
      for (std::size_t j = 0; j < Cols; ++j) {
        const double* b = y + static_cast<index_t>(j) * length + k;
        low[i][j] = _mm256_fmadd_pd(a_low, _mm256_loadu_pd(b), low[i][j]);
        high[i][j] = _mm256_fmadd_pd(a_high, _mm256_loadu_pd(b + 4), high[i][j]);
      }
    }
  }
  for (std::size_t i = 0; i < Rows; ++i) {
    for (std::size_t j = 0; j < Cols; ++j)
      out[static_cast<index_t>(i) * out_stride + static_cast<index_t>(j)] =
          combine(low[i][j], high[i][j]);
  }
}

// Four of the eight partial sums of each pair, from x, y and `sums` on.
template <std::size_t Rows, std::size_t Cols>
inline __attribute__((always_inline)) void add_block(const double* x, const double* y,
                                                     index_t length, index_t count, bool begins,
                                                     double* sums, index_t cols,
                                                     const double* next) {
  const auto place = [&](std::size_t i, std::size_t j) {
    return sums + (static_cast<index_t>(i) * cols + static_cast<index_t>(j)) * 8;
  };
  __m256d s[Rows][Cols];
  for (std::size_t i = 0; i < Rows; ++i) {
    for (std::size_t j = 0; j < Cols; ++j) {
      s[i][j] = begins ? _mm256_setzero_pd() : _mm256_loadu_pd(place(i, j));
    }
  }
  for (index_t k = 0; k < count; k += 8) {
    _mm_prefetch(reinterpret_cast<const char*>(next + k), _MM_HINT_T1);
    __m256d b[Cols];
    for (std::size_t j = 0; j < Cols; ++j)
      b[j] = _mm256_loadu_pd(y + static_cast<index_t>(j) * length + k);
    for (std::size_t i = 0; i < Rows; ++i) {
      const __m256d a = _mm256_loadu_pd(x + static_cast<index_t>(i) * length + k);
      for (std::size_t j = 0; j < Cols; ++j) s[i][j] = _mm256_fmadd_pd(a, b[j], s[i][j]);
    }
  }
  for (std::size_t i = 0; i < Rows; ++i) {
    for (std::size_t j = 0; j < Cols; ++j) _mm256_storeu_pd(place(i, j), s[i][j]);
  }
}

template <std::size_t Rows, std::size_t Cols>
inline __attribute__((always_inline)) void add_halves(const double* x, const double* y,
                                                      index_t length, index_t count, bool begins,
                                                      double* sums, index_t cols,
                                                      const double* next) {
  add_block<Rows, Cols>(x, y, length, count, begins, sums, cols, next);
  add_block<Rows, Cols>(x + 4, y + 4, length, count, begins, sums + 4, cols, y);
}

// Whole sums of some rows and columns, half of the partial sums at a time.
template <std::size_t Rows, std::size_t Cols>
inline __attribute__((always_inline)) void dots_by_halves(const double* x, const double* y,
                                                          index_t length, double* out,
                                                          index_t out_stride) {
  alignas(32) double sums[Rows][Cols][8];
  add_halves<Rows, Cols>(x, y, length, length, true, sums[0][0], Cols, y);
  for (std::size_t i = 0; i < Rows; ++i) {
    for (std::size_t j = 0; j < Cols; ++j)
      out[static_cast<index_t>(i) * out_stride + static_cast<index_t>(j)] =
          combine(_mm256_load_pd(sums[i][j]), _mm256_load_pd(sums[i][j] + 4));
  }
}

// Four rows at a time: a row alone takes more loads than products.
void ordered_dots(const double* x, index_t rows, const double* y, index_t cols, index_t length,
                  double* out, index_t out_stride, double* /*scratch*/) {
  index_t i = 0;
  for (; i + 4 <= rows; i += 4) {
    const double* const a = x + i * length;
    double* const to = out + i * out_stride;
    index_t j = 0;
    for (; j + 3 <= cols; j += 3) {
      dots_by_halves<4, 3>(a, y + j * length, length, to + j, out_stride);
    }
    for (; j < cols; ++j) dots_by_halves<4, 1>(a, y + j * length, length, to + j, out_stride);
  }
  for (; i < rows; ++i) {
    const double* const a = x + i * length;
    double* const to = out + i * out_stride;
    index_t j = 0;
    for (; j + 4 <= cols; j += 4) {
      ordered_block<1, 4>(a, y + j * length, length, to + j, out_stride);
    }
    for (; j < cols; ++j) ordered_block<1, 1>(a, y + j * length, length, to + j, out_stride);
  }
}

// Four rows and three columns, half of the partial sums at a time: twelve sums for seven loads, as
// many as registers hold beside the factors. Rows outside, so that theirs, which are more, stay in
// the first level of the caches. The elements behind these are asked for as with AVX-512.
void add_partial_sums(const double* x, index_t rows, const double* y, index_t cols, index_t length,
                      index_t count, index_t diagonal, bool begins, double* sums,
                      double* /*scratch*/) {
  index_t asked = 0;
  const auto next = [&] {
    const double* const row = asked < rows ? x + asked * length : y + (asked - rows) * length;
    if (++asked == rows + cols) asked = 0;
    return row + count;
  };
  for (index_t i = 0; i < rows;) {
    const bool four = i + 4 <= rows;
    const index_t height = four ? 4 : 1;
    const double* const a = x + i * length;
    for (index_t j = 0; j < cols;) {
      const bool three = j + 3 <= cols;
      const index_t width = three ? 3 : 1;
      const double* const b = y + j * length;
      double* const to = sums + (i * cols + j) * 8;
      if (j + width - 1 + diagonal <= i) {
        for (index_t k = 0; begins && k < height; ++k) {
          __builtin_memset(to + k * cols * 8, 0, static_cast<std::size_t>(width) * 8 * sizeof *to);
        }
      } else if (four) {
        three ? add_halves<4, 3>(a, b, length, count, begins, to, cols, next())
              : add_halves<4, 1>(a, b, length, count, begins, to, cols, b);
      } else {
        three ? add_halves<1, 3>(a, b, length, count, begins, to, cols, b)
              : add_halves<1, 1>(a, b, length, count, begins, to, cols, b);
      }
      j += width;
    }
    i += height;
  }
}

void combine_partial_sums(const double* sums, index_t rows, index_t cols, double* out,
                          index_t out_stride) {
  for (index_t i = 0; i < rows; ++i) {
    for (index_t j = 0; j < cols; ++j) {
      const double* const of = sums + (i * cols + j) * 8;
      out[i * out_stride + j] = combine(_mm256_loadu_pd(of), _mm256_loadu_pd(of + 4));
    }
  }
}

#include "cpu/pairs/loops/kernels_avx2_blocks.hpp"

// Eight doubles, for kernels_unit_row_body.hpp and kernels_rounding_body.hpp.
struct avx2_eight {
  __m256d low;
  __m256d high;
  static avx2_eight zero() { return spread(0); }
  static avx2_eight spread(double x) { return {_mm256_set1_pd(x), _mm256_set1_pd(x)}; }
  static avx2_eight load(const double* p) { return {_mm256_loadu_pd(p), _mm256_loadu_pd(p + 4)}; }
  static avx2_eight from(const double* p) { return load(p); }
  static avx2_eight from(__m128i low, __m128i high) {
    return {_mm256_cvtepi32_pd(low), _mm256_cvtepi32_pd(high)};
  }
  static avx2_eight from(const std::int32_t* p) {
    const auto* at = reinterpret_cast<const __m128i*>(p);
    return from(_mm_loadu_si128(at), _mm_loadu_si128(at + 1));
  }
  static avx2_eight from(const std::int16_t* p) {
    const __m128i all = _mm_loadu_si128(reinterpret_cast<const __m128i*>(p));
    return from(_mm_cvtepi16_epi32(all), _mm_cvtepi16_epi32(_mm_unpackhi_epi64(all, all)));
  }
  void to_int16(std::int16_t* p) const {
    _mm_storeu_si128(reinterpret_cast<__m128i*>(p),
                     _mm_packs_epi32(_mm256_cvtpd_epi32(low), _mm256_cvtpd_epi32(high)));
  }
  void store(double* p) const {
    _mm256_storeu_pd(p, low);
    _mm256_storeu_pd(p + 4, high);
  }
  friend avx2_eight operator+(avx2_eight a, avx2_eight b) {
    return {_mm256_add_pd(a.low, b.low), _mm256_add_pd(a.high, b.high)};
  }
  friend avx2_eight operator-(avx2_eight a, avx2_eight b) {
    return {_mm256_sub_pd(a.low, b.low), _mm256_sub_pd(a.high, b.high)};
  }
  friend avx2_eight operator*(avx2_eight a, avx2_eight b) {
    return {_mm256_mul_pd(a.low, b.low), _mm256_mul_pd(a.high, b.high)};
  }
  friend avx2_eight operator/(avx2_eight a, avx2_eight b) {
    return {_mm256_div_pd(a.low, b.low), _mm256_div_pd(a.high, b.high)};
  }
  static avx2_eight fused(avx2_eight a, avx2_eight b, avx2_eight c) {
    return {_mm256_fmadd_pd(a.low, b.low, c.low), _mm256_fmadd_pd(a.high, b.high, c.high)};
  }
  static avx2_eight magnitude(avx2_eight a) {
    const __m256d sign = _mm256_set1_pd(-0.0);
    return {_mm256_andnot_pd(sign, a.low), _mm256_andnot_pd(sign, a.high)};
  }
  static avx2_eight most(avx2_eight a, avx2_eight b) {
    return {_mm256_max_pd(a.low, b.low), _mm256_max_pd(a.high, b.high)};
  }
  static bool all_at_most(avx2_eight a, avx2_eight b) {
    return _mm256_movemask_pd(_mm256_and_pd(_mm256_cmp_pd(a.low, b.low, _CMP_LE_OQ),
                                            _mm256_cmp_pd(a.high, b.high, _CMP_LE_OQ))) == 0xf;
  }
};

}  // namespace

void search_byte_pairs_avx2(const screen_tile& tile, const exact_test& test) {
  if (tile.steps == 15) return byte_pair_screen<15>::search(tile, test);
  byte_pair_screen<0>::search(tile, test);
}

const pair_kernels avx2_pair_kernels{
    .name = "avx2",
    .costs = detail::default_costs::avx2,
    .screen = {.search = search_byte_pairs_avx2, .columns = packing::byte_pairs},
    .int16 = kernel_body<avx2_int16>::kernels(),
    .float32 = kernel_body<avx2_float32>::kernels(),
    .rho = rho_of_sums,
    .add_products = product_body<avx2_int16>::add,
    .rho_of_doubles = rho_of_doubles,
    .select = select_sums,
    .ordered_dots = ordered_dots,
    .add_partial_sums = add_partial_sums,
    .combine_partial_sums = combine_partial_sums,
    .blocks = {.least_length = 256,
               .least_rows = avx2_row_blocks::rows_at_once,
               .scratch = avx2_row_blocks::scratch,
               .dots = avx2_row_blocks::dots},
    .row = unit_row_body<avx2_eight>::passes(),
    .round_doubles = rounding_body<avx2_eight, double>::kernels(),
    .round_int16 = rounding_body<avx2_eight, std::int16_t>::kernels(),
    .round_int32 = rounding_body<avx2_eight, std::int32_t>::kernels(),
    .pairwise_counts = pairwise_counts,
    .pairwise_statistics = pairwise_body<avx2_pairwise>::statistics,
    .pairwise_rank_sums = pairwise_rank_sums,
    .mask_values = mask_body<avx2_masks>::values,
    .mask_ranks = mask_body<avx2_masks>::ranks,
    .int8_dot = dot_of<std::int8_t>,
    .int16_dot = dot_of<std::int16_t>,
    .long_int16_dot = long_dot_of<std::int16_t>,
    .long_int32_dot = long_dot_of<std::int32_t>};

}  // namespace gpu::cpu
