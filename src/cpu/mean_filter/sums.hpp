// Vectors of sums, included by body.hpp (and compiled with it once per instruction
// set).

namespace gpu::cpu::GPU_SIMILARITY_LEVEL {
namespace {

#define GPU_SIMILARITY_INLINE inline __attribute__((always_inline))

typedef double vec __attribute__((vector_size(GPU_SIMILARITY_VECTOR_BYTES)));
typedef double loose_vec
    __attribute__((vector_size(GPU_SIMILARITY_VECTOR_BYTES), aligned(8), may_alias));
typedef long long int_vec __attribute__((vector_size(GPU_SIMILARITY_VECTOR_BYTES)));
constexpr int lanes = GPU_SIMILARITY_VECTOR_BYTES / 8;
constexpr int parts = static_cast<int>(strip_lanes) / lanes;

GPU_SIMILARITY_INLINE vec load(const double* p) {
  return *reinterpret_cast<const loose_vec*>(p);
}
GPU_SIMILARITY_INLINE void store(double* p, vec v) {
  *reinterpret_cast<loose_vec*>(p) = v;
}

// A sum as one double; as two, and the second holds what rounding lost (Knuth's exact sum of
// two); or as three, and the last is the sum of the magnitudes, which bounds the error.
template <int Words>
struct sum {
  vec high = vec{};
  vec low = vec{};
  vec size = vec{};
};

GPU_SIMILARITY_INLINE vec magnitude(vec v) {
  return v < 0 ? -v : v;
}

template <int Words>
GPU_SIMILARITY_INLINE sum<Words> add(sum<Words> a, sum<Words> b) {
  const vec high = a.high + b.high;
  if constexpr (Words == 1) {
    return {high};
  } else {
    const vec part = high - a.high;
    const vec lost = (a.high - (high - part)) + (b.high - part);
    if constexpr (Words == 2) return {high, (a.low + b.low) + lost};
    return {high, (a.low + b.low) + lost, a.size + b.size};
  }
}

// As above for one element: its low part would be 0.
template <int Words>
GPU_SIMILARITY_INLINE sum<Words> add_value(sum<Words> a, vec b) {
  const vec high = a.high + b;
  if constexpr (Words == 1) {
    return {high};
  } else {
    const vec part = high - a.high;
    const vec lost = (a.high - (high - part)) + (b - part);
    if constexpr (Words == 2) return {high, a.low + lost};
    return {high, a.low + lost, a.size + magnitude(b)};
  }
}

// Arrays of sums: the low parts stand `stride` doubles after the high ones, sizes after those.
template <int Words>
GPU_SIMILARITY_INLINE sum<Words> get(const double* p, index_t stride) {
  if constexpr (Words == 3) {
    return {load(p), load(p + stride), load(p + 2 * stride)};
  } else if constexpr (Words == 2) {
    return {load(p), load(p + stride)};
  } else {
    return {load(p)};
  }
}
template <int Words>
GPU_SIMILARITY_INLINE void put(double* p, index_t stride, sum<Words> s) {
  store(p, s.high);
  if constexpr (Words > 1) store(p + stride, s.low);
  if constexpr (Words > 2) store(p + 2 * stride, s.size);
}

// high alone where the sum is infinite or NaN: what was lost is NaN there.
template <int Words>
GPU_SIMILARITY_INLINE vec rounded(sum<Words> s) {
  if constexpr (Words == 1) {
    return s.high;
  } else {
    const vec total = s.high + s.low;
    return total == total ? total : s.high;
  }
}

// The sum rounded once. Where that is doubtful after `error` times the size of it, `doubtful` is
// set.
GPU_SIMILARITY_INLINE vec rounded_once(sum<3> s, vec error, int_vec& doubtful) {
  const vec total = s.high + s.low;
  const vec part = total - s.high;
  const vec lost = (s.high - (total - part)) + (s.low - part);
  const vec margin = s.size * error;
  const int_vec sure = (total + (lost + margin) == total) & (total + (lost - margin) == total);
  const int_vec finite = (total - total == 0) & (s.size - s.size == 0);
  doubtful = ~sure & finite;
  return total == total ? total : s.high;
}

// sum / divisor, correctly rounded from the rounded inverse where there is a fused multiply-add
// (Markstein); the first estimate alone where it is infinite or NaN, which sums that `IsFinite`
// says are not.
template <bool IsFinite = false>
GPU_SIMILARITY_INLINE vec divided(vec sum_of, vec divisor, vec inverse) {
#if GPU_SIMILARITY_VECTOR_BYTES > 16
#if GPU_SIMILARITY_VECTOR_BYTES == 64
  const auto fused = [](vec a, vec b, vec c) { return _mm512_fmadd_pd(a, b, c); };
#else
  const auto fused = [](vec a, vec b, vec c) { return _mm256_fmadd_pd(a, b, c); };
#endif
  const vec estimate = sum_of * inverse;
  const vec rest = fused(-estimate, divisor, sum_of);
  const vec out = fused(rest, inverse, estimate);
  if constexpr (IsFinite) return out;
  return rest == rest ? out : estimate;
#else
  static_cast<void>(inverse);
  return sum_of / divisor;
#endif
}

// One row: 8 sums.
template <int Words>
struct sum_row {
  sum<Words> part[parts];
};
template <int C>
GPU_SIMILARITY_INLINE sum_row<C> get_row(const double* p, index_t stride) {
  sum_row<C> row;
  for (int i = 0; i < parts; ++i) row.part[i] = get<C>(p + i * lanes, stride);
  return row;
}
template <int C>
GPU_SIMILARITY_INLINE void put_row(double* p, index_t stride, const sum_row<C>& row) {
  for (int i = 0; i < parts; ++i) put<C>(p + i * lanes, stride, row.part[i]);
}
template <int C>
GPU_SIMILARITY_INLINE void add_row(sum_row<C>& to, const sum_row<C>& row) {
  for (int i = 0; i < parts; ++i) to.part[i] = add<C>(to.part[i], row.part[i]);
}
template <int C>
GPU_SIMILARITY_INLINE sum_row<C> zero_row() {
  sum_row<C> row;
  for (int i = 0; i < parts; ++i) row.part[i] = {};
  return row;
}

// In a buffer of rows a row's high parts stand first, then its low parts, then its sizes.
template <int C>
constexpr index_t row_doubles = index_t{C} * strip_lanes;

}  // namespace
}  // namespace gpu::cpu::GPU_SIMILARITY_LEVEL
