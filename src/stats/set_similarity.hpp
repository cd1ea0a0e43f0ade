#pragma once
// The similarity of two sets, and the screens in front of it; on host and device.
//
// With c elements in both, of a in one and b in the other, and whole numbers q, l, r,
//
//     S = q c / (q c + l (a - c) + r (b - c)),
//
// the double nearest to this ratio of integers, and 0 where c is 0. Tanimoto's similarity has
// q = l = r = 1, Dice's q = 2 and l = r = 1, Tversky's any. All decisions are those of this double.
// A screen is a cheaper comparison in single precision that never loses a pair: S >= s means
// c >= t (l a + r b) with t = s / (q (1 - s) + s (l + r)), and t is lowered by more than the
// rounding of the rest.

#include <cmath>
#include <cstdint>

#include "base/host_device.hpp"

namespace gpu::stats {

/// q, l and r, up to 10^6, l or r above 0. Their products with 31-bit sizes, and the sums of these,
/// are exact in double.
struct set_weights {
  std::int64_t common = 1;
  std::int64_t left = 1;
  std::int64_t right = 1;
  /// Whether S is c over the elements in either set: 31 bits are enough, and half the time.
  [[nodiscard]] GPU_SIMILARITY_INLINE_HOST_DEVICE bool is_of_union() const {
    return common == left && left == right;
  }
};

/// Of sets of `ones` and `others` elements with `common` in both.
GPU_SIMILARITY_INLINE_HOST_DEVICE double set_similarity(std::int32_t common, std::int32_t ones,
                                                        std::int32_t others,
                                                        const set_weights& of) {
  const std::int32_t either = ones - common + others;
  if (of.is_of_union()) return static_cast<double>(common) / (either > 0 ? either : 1);
  const std::int64_t all =
      of.left * ones + of.right * others + (of.common - of.left - of.right) * common;
  return static_cast<double>(of.common * common) / static_cast<double>(all > 0 ? all : 1);
}

/// A pair passes where float(common) - right float(others) >= left float(ones), whatever the last
/// bits of these operations. Infinity keeps none of the rows that have a bit.
struct set_screen {
  float left;
  float right;
};

/// The screen of similarities of at least `least`, which is at least 0.
GPU_SIMILARITY_INLINE_HOST_DEVICE set_screen screen_of(double least, const set_weights& of) {
  // Four roundings of 2^-24 each side are less than a quarter of this.
  constexpr double margin = 1.0 / (1 << 18);
  if (least > 1) return {INFINITY, INFINITY};
  const auto left = static_cast<double>(of.left);
  const auto right = static_cast<double>(of.right);
  const double t = least / (static_cast<double>(of.common) * (1 - least) + least * (left + right));
  return {static_cast<float>(t * (1 - margin) * left),
          static_cast<float>(t * (1 - margin) * right)};
}

}  // namespace gpu::stats
