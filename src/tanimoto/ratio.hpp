#pragma once
// The Tanimoto similarity of two counts, and the screens in front of it; on host and device.
//
// All decisions are those of the double that ratio() gives. A screen is a cheaper comparison in
// single precision that never loses a pair: with c common bits of a and b, S >= s means
// c >= t (a + b) with t = s / (1 + s), and t is lowered by more than the rounding of the rest.

#include <cmath>
#include <cstdint>

#include "base/host_device.hpp"

namespace gpu::tanimoto {

/// `common` of `all` bits; 0 where there are none at all.
GPU_SIMILARITY_INLINE_HOST_DEVICE double ratio(std::int32_t common, std::int32_t all) {
  return all == 0 ? 0.0 : static_cast<double>(common) / static_cast<double>(all);
}

/// Bits in either of two rows, at most the columns: no sum on the way passes 31 bits.
GPU_SIMILARITY_INLINE_HOST_DEVICE std::int32_t in_either(std::int32_t ones, std::int32_t others,
                                                         std::int32_t common) {
  return ones - common + others;
}

/// t of a screen for similarities of at least `least`, which is at least 0: every such pair has
/// float(c) - t float(b) >= t float(a), whatever the last bits of these operations. Infinity keeps
/// none of the rows that have a bit.
GPU_SIMILARITY_INLINE_HOST_DEVICE float screen_of(double least) {
  // Three roundings of 2^-24 each side are less than a quarter of this.
  constexpr double margin = 1.0 / (1 << 18);
  if (least > 1) return INFINITY;
  return static_cast<float>(least / (1 + least) * (1 - margin));
}

}  // namespace gpu::tanimoto
