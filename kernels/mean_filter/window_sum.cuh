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
  static constexpr bool counts_missing = false;
  static constexpr bool is_compensated = false;
  double total = 0;

  __device__ void add(double x) { total += x; }
  __device__ void add(const plain_sum& other) { total += other.total; }
  __device__ double value() const { return total; }
  __device__ long long missing() const { return 0; }
  /// The sum of another lane: `move` brings each of its words.
  template <class Move>
  __device__ plain_sum moved(const Move& move) const {
    return {move(total)};
  }
};

/// A sum of two doubles: `low` holds what the additions into `high` lost (Knuth's exact sum).
struct exact_sum {
  static constexpr bool counts_missing = false;
  static constexpr bool is_compensated = true;
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
  template <class Move>
  __device__ exact_sum moved(const Move& move) const {
    return {move(high), move(low)};
  }
};

/// Omits NaN and counts them.
template <class Sum>
struct counted_sum : Sum {
  static constexpr bool counts_missing = true;
  long long absent = 0;

  __device__ void add(double x) {
    if (x != x) {
      ++absent;
    } else {
      Sum::add(x);
    }
  }
  __device__ void add(const counted_sum& other) {
    Sum::add(static_cast<const Sum&>(other));
    absent += other.absent;
  }
  __device__ long long missing() const { return absent; }
  template <class Move>
  __device__ counted_sum moved(const Move& move) const {
    return {Sum::moved(move), move(absent)};
  }
};

template <class Sum>
__device__ Sum shuffled_up(const Sum& sum, unsigned lanes) {
  return sum.moved([=](auto word) { return __shfl_up_sync(0xffffffffu, word, lanes); });
}
template <class Sum>
__device__ Sum shuffled_down(const Sum& sum, unsigned lanes) {
  return sum.moved([=](auto word) { return __shfl_down_sync(0xffffffffu, word, lanes); });
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
