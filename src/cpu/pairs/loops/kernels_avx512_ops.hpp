// 16 lanes in one 512-bit register: what the AVX-512 kernels share. Included inside the unnamed
// namespace of a file compiled for AVX-512.

struct avx512_lanes {
  static constexpr int rows = 8;
  static constexpr int groups = 2;
  using real = __m512;
  using counter = __m512i;

  static real load_real(const float* p) { return _mm512_loadu_ps(p); }
  static void store_real(real x, float* p) { _mm512_storeu_ps(p, x); }
  static real spread(float x) { return _mm512_set1_ps(x); }
  static real signed_real(real x, std::uint32_t flip, std::uint32_t keep) {
    // (x xor flip) and keep
    return _mm512_castsi512_ps(
        _mm512_ternarylogic_epi32(_mm512_castps_si512(x), _mm512_set1_epi32(static_cast<int>(flip)),
                                  _mm512_set1_epi32(static_cast<int>(keep)), 0x28));
  }
  static real margin(real cut, real scale, real x) { return _mm512_fnmadd_ps(cut, scale, x); }
  static real least(real a, real b) { return _mm512_min_ps(a, b); }
  static real most(real a, real b) { return _mm512_max_ps(a, b); }
  static real magnitude(real a) { return _mm512_abs_ps(a); }
  static bool any_at_most(real a, float b) {
    return _mm512_cmp_ps_mask(a, spread(b), _CMP_LE_OQ) != 0;
  }
  static bool any_at_least(real a, float b) {
    return _mm512_cmp_ps_mask(a, spread(b), _CMP_GE_OQ) != 0;
  }
  static std::uint32_t bits_at_least(real a, float b) {
    return _mm512_cmp_ps_mask(a, spread(b), _CMP_GE_OQ);
  }
  static std::uint32_t bits_not_negative(real a) {
    return static_cast<std::uint16_t>(~_mm512_movepi32_mask(_mm512_castps_si512(a)));
  }
  static counter no_counts() { return _mm512_setzero_si512(); }
  static void add_bits(counter& c, std::uint32_t bits) {
    c = _mm512_mask_add_epi32(c, static_cast<__mmask16>(bits), c, _mm512_set1_epi32(1));
  }
  static void add_counts(counter c, std::uint32_t* p) {
    _mm512_storeu_si512(p, _mm512_add_epi32(_mm512_loadu_si512(p), c));
  }
};

struct avx512_integer_lanes : avx512_lanes {
  using sum = __m512i;
  using column = __m512i;
  static sum zero() { return _mm512_setzero_si512(); }
  static column load(const std::uint8_t* p) { return _mm512_load_si512(p); }
  static real to_real(sum s) { return _mm512_cvtepi32_ps(s); }
  static void store(sum s, std::int32_t* p) { _mm512_storeu_si512(p, s); }
  static void add_to(sum s, double* p) {
    const __m512d low = _mm512_cvtepi32_pd(_mm512_castsi512_si256(s));
    const __m512d high = _mm512_cvtepi32_pd(_mm512_extracti64x4_epi64(s, 1));
    _mm512_storeu_pd(p, _mm512_add_pd(_mm512_loadu_pd(p), low));
    _mm512_storeu_pd(p + 8, _mm512_add_pd(_mm512_loadu_pd(p + 8), high));
  }
  static __m512i row_step(const std::uint8_t* p) {
    int value;
    __builtin_memcpy(&value, p, sizeof value);
    return _mm512_set1_epi32(value);
  }
};

struct avx512_float32 : avx512_lanes {
  using sum = __m512;
  using column = __m512;
  static sum zero() { return _mm512_setzero_ps(); }
  static column load(const std::uint8_t* p) { return _mm512_load_ps(p); }
  static void accumulate(sum& s, column c, const std::uint8_t* p) {
    float value;
    __builtin_memcpy(&value, p, sizeof value);
    s = _mm512_fmadd_ps(c, _mm512_set1_ps(value), s);
  }
  static real to_real(sum s) { return s; }
  static void store(sum s, std::int32_t* p) { _mm512_storeu_si512(p, _mm512_castps_si512(s)); }
};

// select_sums with compressing moves: what may pass is moved together, 16 pairs at a time; then
// detail::rho_of of eight at a time, operation by operation.
inline index_t select_compressed(const sum_row& in, pair_hit* out) {
  constexpr index_t room = most_selected + group_lanes;
  alignas(64) std::uint32_t cols[room];
  alignas(64) std::int32_t sums[room];
  alignas(64) std::int32_t squares[room];
  const __m512i lane = _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
  const __m512 cut = _mm512_set1_ps(in.row_cut);
  const __m512 band = _mm512_set1_ps(-in.band);
  index_t candidates = 0;
  for (index_t j = 0; j < in.count; j += group_lanes) {
    const auto used =
        static_cast<__mmask16>(in.count - j >= group_lanes ? 0xffffu : (1u << (in.count - j)) - 1);
    const __m512i sum = _mm512_maskz_loadu_epi32(used, in.sums + j);
    const __m512 x = avx512_lanes::signed_real(_mm512_cvtepi32_ps(sum), in.sign_flip, in.sign_keep);
    const __m512 margin = _mm512_fnmadd_ps(cut, _mm512_maskz_loadu_ps(used, in.col_scale + j), x);
    const __mmask16 may = _mm512_mask_cmp_ps_mask(used, margin, band, _CMP_GE_OQ);
    if (may == 0) continue;
    const __m512i square = _mm512_maskz_loadu_epi32(used, in.square_cols + j);
    const __m512i col = _mm512_add_epi32(lane, _mm512_set1_epi32(static_cast<int>(in.col + j)));
    _mm512_storeu_si512(cols + candidates, _mm512_maskz_compress_epi32(may, col));
    _mm512_storeu_si512(sums + candidates, _mm512_maskz_compress_epi32(may, sum));
    _mm512_storeu_si512(squares + candidates, _mm512_maskz_compress_epi32(may, square));
    candidates += __builtin_popcount(may);
  }
  const __m512d square_row = _mm512_set1_pd(in.square_row);
  const __m512d at_least = _mm512_set1_pd(in.at_least);
  const __m512d at_most = _mm512_set1_pd(in.at_most);
  const __m512i low = _mm512_setr_epi64(0, 8, 1, 9, 2, 10, 3, 11);
  const __m512i high = _mm512_setr_epi64(4, 12, 5, 13, 6, 14, 7, 15);
  const __m512i row = _mm512_set1_epi64(static_cast<long long>(in.row));
  index_t kept = 0;
  for (index_t k = 0; k < candidates; k += 8) {
    const auto used =
        static_cast<__mmask8>(candidates - k >= 8 ? 0xffu : (1u << (candidates - k)) - 1);
    const auto eight = [k](const auto* from) {
      return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(from + k));
    };
    const __m512d scale =
        _mm512_maskz_sqrt_pd(used, _mm512_mul_pd(square_row, _mm512_cvtepi32_pd(eight(squares))));
    __m512d rho = _mm512_maskz_div_pd(used, _mm512_cvtepi32_pd(eight(sums)), scale);
    rho = _mm512_max_pd(_mm512_min_pd(rho, _mm512_set1_pd(1)), _mm512_set1_pd(-1));
    const __mmask8 keeps =
        static_cast<__mmask8>(used & (_mm512_cmp_pd_mask(rho, at_least, _CMP_GE_OQ) |
                                      _mm512_cmp_pd_mask(rho, at_most, _CMP_LE_OQ)));
    // Row and column are the halves of eight bytes.
    const __m512i ends =
        _mm512_or_si512(row, _mm512_slli_epi64(_mm512_cvtepu32_epi64(eight(cols)), 32));
    const __m512i first = _mm512_maskz_compress_epi64(keeps, ends);
    const __m512i second = _mm512_maskz_compress_epi64(keeps, _mm512_castpd_si512(rho));
    _mm512_storeu_si512(out + kept, _mm512_permutex2var_epi64(first, low, second));
    _mm512_storeu_si512(out + kept + 4, _mm512_permutex2var_epi64(first, high, second));
    kept += __builtin_popcount(keeps);
  }
  return kept;
}

struct avx512_doubles {
  using vec = __m512d;
  static vec fused(vec a, vec b, vec c) { return _mm512_fmadd_pd(a, b, c); }
  static double combine(__m512d s) {
    const __m256d four = _mm256_add_pd(_mm512_castpd512_pd256(s), _mm512_extractf64x4_pd(s, 1));
    const __m128d two = _mm_add_pd(_mm256_castpd256_pd128(four), _mm256_extractf128_pd(four, 1));
    return _mm_cvtsd_f64(_mm_add_sd(two, _mm_unpackhi_pd(two, two)));
  }
  static double combine(const vec (&s)[1]) { return combine(s[0]); }
  static double combine(const double* s) { return combine(_mm512_loadu_pd(s)); }
  static vec magnitude(vec a) { return _mm512_abs_pd(a); }
  static vec most(vec a, vec b) { return _mm512_max_pd(a, b); }
  static bool all_at_most(const vec (&a)[1], const vec (&b)[1]) {
    return _mm512_cmp_pd_mask(a[0], b[0], _CMP_LE_OQ) == 0xff;
  }
  static vec from(const float* p) { return _mm512_cvtps_pd(_mm256_loadu_ps(p)); }
  static vec from(const std::int32_t* p) {
    return _mm512_cvtepi32_pd(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(p)));
  }
  static vec from(const std::int16_t* p) {
    return _mm512_cvtepi32_pd(
        _mm256_cvtepi16_epi32(_mm_loadu_si128(reinterpret_cast<const __m128i*>(p))));
  }
  static void to_int16(const vec (&at)[1], std::int16_t* p) {
    _mm_storeu_si128(reinterpret_cast<__m128i*>(p),
                     _mm256_cvtepi32_epi16(_mm512_cvtpd_epi32(at[0])));
  }
};
using avx512_eight = eight_doubles<avx512_doubles>;
// 24 sums, which keep both units of multiplication busy.
using avx512_dots = dots_body<doubles<avx512_doubles>, 6>;

struct avx512_pairwise : doubles<avx512_doubles> {
  static constexpr int rows = 4;
  // Some processors add in units that products leave idle.
  static vec add_where(vec sum, vec x, vec has) { return has != vec{} ? sum + x : sum; }
  static vec add_if(vec sum, vec x, vec has) { return fused(x, has, sum); }
};

struct avx512_masks : doubles<avx512_doubles> {
  static constexpr int product_rows = 8;
  using ints = __m512i;
  static constexpr index_t int16_lanes = 32;
  static ints no_ints() { return _mm512_setzero_si512(); }
  static ints load_ints(const std::int16_t* p) {
    return _mm512_loadu_si512(reinterpret_cast<const void*>(p));
  }
  static ints add_products(ints sum, ints a, ints b) {
    return _mm512_add_epi32(sum, _mm512_madd_epi16(a, b));
  }
  static __m256i half_sum(ints sum) {
    return _mm256_add_epi32(_mm512_castsi512_si256(sum), _mm512_extracti64x4_epi64(sum, 1));
  }
  static void totals(const ints (&sums)[4], std::int32_t (&out)[4]) {
    const __m256i all = _mm256_hadd_epi32(_mm256_hadd_epi32(half_sum(sums[0]), half_sum(sums[1])),
                                          _mm256_hadd_epi32(half_sum(sums[2]), half_sum(sums[3])));
    _mm_storeu_si128(reinterpret_cast<__m128i*>(out),
                     _mm_add_epi32(_mm256_castsi256_si128(all), _mm256_extracti128_si256(all, 1)));
  }
};
