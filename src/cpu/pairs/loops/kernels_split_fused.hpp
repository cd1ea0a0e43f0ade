// Fused multiply-adds of doubles without an instruction for them, two at a time with SSE2: the bits
// of std::fma, which is a call there. Included inside the unnamed namespace of
// kernels_baseline.cpp.
//
// Factors are split into halves of 26 bits (Dekker), so that a product is p + e exactly. The sum of
// p and the addend is s + t exactly. s + (t + e), rounded twice, is the fused result unless the
// first rounding lands on the middle between two doubles. Such pairs are noticed and taken again
// by std::fma, and so are factors whose products might leave the range where all this is exact.

constexpr index_t fused_step = detail::partial_sums;
// The low end leaves the last bits of products, and what is left of sums of them, normal doubles.
constexpr double least_split = 0x1p-400;
constexpr double most_split = 0x1p400;

// The halves of a row's values; `fits` where each is 0 or within the limits above.
struct split_row {
  const double* value;
  const double* high;
  const double* low;
  bool fits;
};

inline split_row split(const double* row, index_t count, double* high, double* low) {
  const __m128d splitter = _mm_set1_pd(134217729.0);  // 2^27 + 1
  const __m128d sign = _mm_set1_pd(-0.0);
  const __m128d least = _mm_set1_pd(least_split);
  const __m128d most = _mm_set1_pd(most_split);
  __m128d all = _mm_cmpeq_pd(sign, sign);
  for (index_t k = 0; k < count; k += 2) {
    const __m128d x = _mm_loadu_pd(row + k);
    const __m128d size = _mm_andnot_pd(sign, x);
    const __m128d within = _mm_and_pd(_mm_cmpge_pd(size, least), _mm_cmple_pd(size, most));
    all = _mm_and_pd(all, _mm_or_pd(within, _mm_cmpeq_pd(x, _mm_setzero_pd())));
    const __m128d wide = _mm_mul_pd(splitter, x);
    const __m128d top = _mm_sub_pd(wide, _mm_sub_pd(wide, x));
    _mm_storeu_pd(high + k, top);
    _mm_storeu_pd(low + k, _mm_sub_pd(x, top));
  }
  return {row, high, low, _mm_movemask_pd(all) == 3};
}

// a * b + c; sets bits of `doubt` where that may not be the fused result.
inline __attribute__((always_inline)) __m128d split_fused(const split_row& a, const split_row& b,
                                                          index_t k, __m128d c, __m128d& doubt) {
  const __m128d a_high = _mm_loadu_pd(a.high + k);
  const __m128d a_low = _mm_loadu_pd(a.low + k);
  const __m128d b_high = _mm_loadu_pd(b.high + k);
  const __m128d b_low = _mm_loadu_pd(b.low + k);
  const __m128d p = _mm_mul_pd(_mm_loadu_pd(a.value + k), _mm_loadu_pd(b.value + k));
  const __m128d first = _mm_sub_pd(_mm_mul_pd(a_high, b_high), p);
  const __m128d second = _mm_add_pd(first, _mm_mul_pd(a_low, b_high));
  const __m128d third = _mm_add_pd(second, _mm_mul_pd(a_high, b_low));
  const __m128d e = _mm_add_pd(third, _mm_mul_pd(a_low, b_low));
  const __m128d s = _mm_add_pd(c, p);
  const __m128d z = _mm_sub_pd(s, c);
  const __m128d t = _mm_add_pd(_mm_sub_pd(c, _mm_sub_pd(s, z)), _mm_sub_pd(p, z));
  const __m128d d = _mm_add_pd(t, e);
  const __m128d r = _mm_add_pd(s, d);
  // What r lacks is half the distance to its neighbour in the middle alone; a little more of it
  // gives the neighbour then.
  const __m128d lost = _mm_sub_pd(d, _mm_sub_pd(r, s));
  const __m128d beyond = _mm_add_pd(r, _mm_mul_pd(lost, _mm_set1_pd(1 + 0x1p-30)));
  doubt = _mm_or_pd(doubt, _mm_cmpneq_pd(beyond, r));
  return r;
}

// Adds products of `count` values to eight partial sums by calls.
inline void add_by_calls(const double* a, const double* b, index_t count, double* to) {
  for (index_t k = 0; k < count; k += fused_step) {
    for (index_t l = 0; l < fused_step; ++l) to[l] = std::fma(a[k + l], b[k + l], to[l]);
  }
}

inline void add_split(const split_row& a, const split_row& b, index_t count, double* to) {
  if (!a.fits || !b.fits) return add_by_calls(a.value, b.value, count, to);
  __m128d s[4];
  for (int l = 0; l < 4; ++l) s[l] = _mm_loadu_pd(to + 2 * l);
  __m128d doubt = _mm_setzero_pd();
  for (index_t k = 0; k < count; k += fused_step) {
    for (int l = 0; l < 4; ++l) s[l] = split_fused(a, b, k + 2 * l, s[l], doubt);
  }
  if (_mm_movemask_pd(doubt) != 0) return add_by_calls(a.value, b.value, count, to);
  for (int l = 0; l < 4; ++l) _mm_storeu_pd(to + 2 * l, s[l]);
}

inline void add_products_of_eight(const double* a, const double* b, double* to) {
  double halves[4][fused_step];
  const split_row left = split(a, fused_step, halves[0], halves[1]);
  const split_row right = split(b, fused_step, halves[2], halves[3]);
  add_split(left, right, fused_step, to);
}

// Elements that are multiplied at a time.
constexpr index_t split_piece = 512;

// The halves of the columns and of one row, and of each column whether it fits.
index_t split_scratch(index_t cols, index_t count) {
  return (cols + 1) * 2 * std::min(split_piece, count) + cols;
}

void add_partial_sums(const double* x, index_t rows, const double* y, index_t cols, index_t length,
                      index_t count, index_t diagonal, bool begins, double* sums, double* scratch) {
  double* const of_row = scratch + cols * 2 * count;
  double* const fits = of_row + 2 * count;
  for (index_t j = 0; j < cols; ++j) {
    double* const halves = scratch + j * 2 * count;
    fits[j] = split(y + j * length, count, halves, halves + count).fits ? 1 : 0;
  }
  if (begins) std::fill_n(sums, rows * cols * fused_step, 0.0);
  for (index_t i = 0; i < rows; ++i) {
    const split_row own = split(x + i * length, count, of_row, of_row + count);
    for (index_t j = i < diagonal ? 0 : i - diagonal + 1; j < cols; ++j) {
      const double* const halves = scratch + j * 2 * count;
      add_split(own, {y + j * length, halves, halves + count, fits[j] != 0}, count,
                sums + (i * cols + j) * fused_step);
    }
  }
}

// A pair by itself, in memory of its own.
void ordered_dot(const double* x, const double* y, index_t length, double* out) {
  constexpr index_t piece = 256;
  double halves[4][piece];
  double sums[fused_step] = {};
  for (index_t k = 0; k < length; k += piece) {
    const index_t count = std::min(piece, length - k);
    const split_row left = split(x + k, count, halves[0], halves[1]);
    const split_row right = split(y + k, count, halves[2], halves[3]);
    add_split(left, right, count, sums);
  }
  combine_partial_sums(sums, 1, 1, out, 1);
}

void ordered_dots(const double* x, index_t rows, const double* y, index_t cols, index_t length,
                  double* out, index_t out_stride, double* scratch) {
  if (rows == 1 && cols == 1) return ordered_dot(x, y, length, out);
  double* const sums = scratch;
  double* const halves = scratch + rows * cols * fused_step;
  if (length == 0) std::fill_n(sums, rows * cols * fused_step, 0.0);
  for (index_t k = 0; k < length; k += split_piece) {
    add_partial_sums(x + k, rows, y + k, cols, length, std::min(split_piece, length - k), rows,
                     k == 0, sums, halves);
  }
  combine_partial_sums(sums, rows, cols, out, out_stride);
}
