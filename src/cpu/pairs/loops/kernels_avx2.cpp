// All-pairs kernels for AVX2 and FMA: 16 lanes are two 256-bit registers.
#include <immintrin.h>

#include "cpu/pairs/loops/kernels.hpp"
#include "stats/shared_columns.hpp"
#include "stats/statistic.hpp"

namespace gpu::cpu {
namespace {

#include "cpu/pairs/loops/kernel_body.hpp"
#include "cpu/pairs/loops/kernel_dots_body.hpp"
#include "cpu/pairs/loops/kernel_doubles.hpp"
#include "cpu/pairs/loops/kernel_screen_body.hpp"
#include "cpu/pairs/loops/kernels_avx2_screen.hpp"
#include "cpu/pairs/loops/kernels_mask_body.hpp"
#include "cpu/pairs/loops/kernels_pairwise_body.hpp"
#include "cpu/pairs/loops/kernels_products_body.hpp"
#include "cpu/pairs/loops/kernels_rounding_body.hpp"
#include "cpu/pairs/loops/kernels_unit_row_body.hpp"

struct avx2_doubles {
  using vec = __m256d;
  static vec fused(vec a, vec b, vec c) { return _mm256_fmadd_pd(a, b, c); }
  static double combine(vec low, vec high) {
    const vec four = _mm256_add_pd(low, high);
    const __m128d two = _mm_add_pd(_mm256_castpd256_pd128(four), _mm256_extractf128_pd(four, 1));
    return _mm_cvtsd_f64(_mm_add_sd(two, _mm_unpackhi_pd(two, two)));
  }
  static double combine(const vec (&s)[2]) { return combine(s[0], s[1]); }
  static double combine(const double* s) {
    return combine(_mm256_loadu_pd(s), _mm256_loadu_pd(s + 4));
  }
  static vec magnitude(vec a) { return _mm256_andnot_pd(_mm256_set1_pd(-0.0), a); }
  static vec most(vec a, vec b) { return _mm256_max_pd(a, b); }
  static bool all_at_most(const vec (&a)[2], const vec (&b)[2]) {
    return _mm256_movemask_pd(_mm256_and_pd(_mm256_cmp_pd(a[0], b[0], _CMP_LE_OQ),
                                            _mm256_cmp_pd(a[1], b[1], _CMP_LE_OQ))) == 0xf;
  }
  static vec from(const float* p) { return _mm256_cvtps_pd(_mm_loadu_ps(p)); }
  static vec from(const std::int32_t* p) {
    return _mm256_cvtepi32_pd(_mm_loadu_si128(reinterpret_cast<const __m128i*>(p)));
  }
  static vec from(const std::int16_t* p) {
    return _mm256_cvtepi32_pd(
        _mm_cvtepi16_epi32(_mm_loadl_epi64(reinterpret_cast<const __m128i*>(p))));
  }
  static void to_int16(const vec (&at)[2], std::int16_t* p) {
    _mm_storeu_si128(reinterpret_cast<__m128i*>(p),
                     _mm_packs_epi32(_mm256_cvtpd_epi32(at[0]), _mm256_cvtpd_epi32(at[1])));
  }
};
using avx2_eight = eight_doubles<avx2_doubles>;
// Twelve sums for seven loads: as many as registers hold with the factors.
using avx2_dots = dots_body<doubles<avx2_doubles>, 3>;

struct avx2_pairwise : doubles<avx2_doubles> {
  static constexpr int rows = 2;
  static vec add_where(vec sum, vec x, vec has) { return fused(x, has, sum); }
  static vec add_if(vec sum, vec x, vec has) { return fused(x, has, sum); }
};

struct avx2_masks : doubles<avx2_doubles> {
  static constexpr int product_rows = 4;
  using ints = __m256i;
  static constexpr index_t int16_lanes = 16;
  static ints no_ints() { return _mm256_setzero_si256(); }
  static ints load_ints(const std::int16_t* p) {
    return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(p));
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

#include "cpu/pairs/loops/kernels_avx2_blocks.hpp"

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
    .rho = rho_of_row<std::int32_t>,
    .add_products = product_body<avx2_int16>::add,
    .rho_of_doubles = rho_of_row<double>,
    .select = select_sums,
    .ordered_dots = avx2_dots::ordered,
    .add_partial_sums = avx2_dots::add,
    .combine_partial_sums = avx2_dots::combine_all,
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
    .int32_dot = dot_of<std::int32_t>};

}  // namespace gpu::cpu
