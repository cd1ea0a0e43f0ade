#pragma once
// Sums of a window's elements, and what becomes of them.

#include <cuda_runtime.h>

#include <cstdint>
#include <limits>
#include <type_traits>

#include <gpu/index.hpp>

namespace gpu::kernels {

/// A sum in plain double: exact for integers in windows up to 2^21, ample for float.
struct plain_sum {
  double total = 0;

  __device__ void add(double x) { total += x; }
  __device__ void add(const plain_sum& other) { total += other.total; }
  __device__ double value() const { return total; }
  __device__ long long missing() const { return 0; }
};

/// A sum of two doubles: `low` holds what the additions into `high` lost (Knuth's exact sum).
struct exact_sum {
  double high = 0;
  double low = 0;

  __device__ void add(double x) {
    const double sum = __dadd_rn(high, x);
    const double part = __dsub_rn(sum, high);
    const double lost = __dadd_rn(__dsub_rn(high, __dsub_rn(sum, part)), __dsub_rn(x, part));
    low = __dadd_rn(low, lost);
    high = sum;
  }
  __device__ void add(const exact_sum& other) {
    low = __dadd_rn(low, other.low);
    add(other.high);
  }
  /// `high` alone where it is infinite or NaN: what was lost is NaN there.
  __device__ double value() const {
    const double total = __dadd_rn(high, low);
    return total != total ? high : total;
  }
  __device__ long long missing() const { return 0; }
};

/// Omits NaN and counts them.
template <class Sum>
struct counted_sum {
  Sum sum;
  long long absent = 0;

  __device__ void add(double x) {
    if (x != x) {
      ++absent;
    } else {
      sum.add(x);
    }
  }
  __device__ void add(const counted_sum& other) {
    sum.add(other.sum);
    absent += other.absent;
  }
  __device__ double value() const { return sum.value(); }
  __device__ long long missing() const { return absent; }
};

/// A sum without what all windows of a row have in common (far_window.cuh). It is a type of its own
/// so that the kernels of other windows need no test for it.
template <class Sum>
struct far_sum {
  Sum sum;

  __device__ void add(double x) { sum.add(x); }
  __device__ void add(const far_sum& other) { sum.add(other.sum); }
  __device__ double value() const { return sum.value(); }
  __device__ long long missing() const { return sum.missing(); }
};

template <class Sum>
inline constexpr bool counts_missing = false;
template <class Sum>
inline constexpr bool counts_missing<counted_sum<Sum>> = true;
template <class Sum>
inline constexpr bool counts_missing<far_sum<Sum>> = counts_missing<Sum>;
template <class Sum>
inline constexpr bool adds_common = false;
template <class Sum>
inline constexpr bool adds_common<far_sum<Sum>> = true;

/// Whether the sum is of two doubles.
template <class Sum>
inline constexpr bool is_compensated = false;
template <>
inline constexpr bool is_compensated<exact_sum> = true;
template <class Sum>
inline constexpr bool is_compensated<counted_sum<Sum>> = is_compensated<Sum>;
template <class Sum>
inline constexpr bool is_compensated<far_sum<Sum>> = is_compensated<Sum>;

__device__ inline double high_part(const exact_sum& sum) {
  return sum.high;
}
__device__ inline double low_part(const exact_sum& sum) {
  return sum.low;
}
__device__ inline double high_part(const counted_sum<exact_sum>& sum) {
  return sum.sum.high;
}
__device__ inline double low_part(const counted_sum<exact_sum>& sum) {
  return sum.sum.low;
}
template <class Sum>
__device__ double high_part(const far_sum<Sum>& sum) {
  return high_part(sum.sum);
}
template <class Sum>
__device__ double low_part(const far_sum<Sum>& sum) {
  return low_part(sum.sum);
}

__device__ inline plain_sum shuffled_up(plain_sum s, unsigned lanes) {
  return {__shfl_up_sync(0xffffffffu, s.total, lanes)};
}
__device__ inline plain_sum shuffled_down(plain_sum s, unsigned lanes) {
  return {__shfl_down_sync(0xffffffffu, s.total, lanes)};
}
__device__ inline plain_sum shuffled_xor(plain_sum s, int lanes) {
  return {__shfl_xor_sync(0xffffffffu, s.total, lanes)};
}
__device__ inline exact_sum shuffled_up(exact_sum s, unsigned lanes) {
  return {__shfl_up_sync(0xffffffffu, s.high, lanes), __shfl_up_sync(0xffffffffu, s.low, lanes)};
}
__device__ inline exact_sum shuffled_down(exact_sum s, unsigned lanes) {
  return {__shfl_down_sync(0xffffffffu, s.high, lanes),
          __shfl_down_sync(0xffffffffu, s.low, lanes)};
}
__device__ inline exact_sum shuffled_xor(exact_sum s, int lanes) {
  return {__shfl_xor_sync(0xffffffffu, s.high, lanes), __shfl_xor_sync(0xffffffffu, s.low, lanes)};
}
template <class Sum>
__device__ counted_sum<Sum> shuffled_up(counted_sum<Sum> s, unsigned lanes) {
  return {shuffled_up(s.sum, lanes), __shfl_up_sync(0xffffffffu, s.absent, lanes)};
}
template <class Sum>
__device__ counted_sum<Sum> shuffled_down(counted_sum<Sum> s, unsigned lanes) {
  return {shuffled_down(s.sum, lanes), __shfl_down_sync(0xffffffffu, s.absent, lanes)};
}
template <class Sum>
__device__ counted_sum<Sum> shuffled_xor(counted_sum<Sum> s, int lanes) {
  return {shuffled_xor(s.sum, lanes), __shfl_xor_sync(0xffffffffu, s.absent, lanes)};
}

template <class Sum>
__device__ far_sum<Sum> shuffled_up(far_sum<Sum> s, unsigned lanes) {
  return {shuffled_up(s.sum, lanes)};
}
template <class Sum>
__device__ far_sum<Sum> shuffled_down(far_sum<Sum> s, unsigned lanes) {
  return {shuffled_down(s.sum, lanes)};
}

/// sum / divisor from the rounded inverse: correctly rounded in three operations (Markstein) where
/// the result is a double or is truncated; one multiplication where it is rounded to float anyway.
/// Where the first estimate is infinite or NaN it is the result.
template <class Out>
__device__ double divided(double sum, double divisor, double inverse) {
  const double estimate = __dmul_rn(sum, inverse);
  if constexpr (std::is_same_v<Out, float>) return estimate;
  const double rest = __fma_rn(-estimate, divisor, sum);
  const double result = __fma_rn(rest, inverse, estimate);
  return result != result ? estimate : result;
}

/// A result as Out: integers truncate toward zero and saturate; NaN gives 0.
template <class Out>
__device__ Out finished(double value) {
  if constexpr (std::is_floating_point_v<Out>) {
    return static_cast<Out>(value);
  } else {
    const int rounded = __double2int_rz(value);  // saturates; NaN gives 0 after the test below
    if (value != value) return 0;
    constexpr int low = std::numeric_limits<Out>::min();
    constexpr int high = std::numeric_limits<Out>::max();
    return static_cast<Out>(rounded < low ? low : (rounded > high ? high : rounded));
  }
}

}  // namespace gpu::kernels
