#pragma once
// The one definition of a statistic's bin. Host and device compile the same expressions, one
// rounding each: a sum is followed by a product, so no compiler can contract them.

#include <gpu/index.hpp>

#include "base/host_device.hpp"

namespace gpu::inline v0::detail {

/// Most bins of a histogram, and those of a counting pass of multiple testing.
inline constexpr index_t most_bins = 65536;

/// The bin of a key that is at least `low`: floor((key - low) * scale), and the last of `bins`
/// where that is past it.
GPU_SIMILARITY_INLINE_HOST_DEVICE index_t bin_of(double key, double low, double scale,
                                                 index_t bins) {
  const double position = (key - low) * scale;
  const double last = static_cast<double>(bins - 1);
  return static_cast<index_t>(position < last ? position : last);
}

/// Places of keys in a count with bounds: 0 below `low`, 1 + bin in [low, high), 1 + bins from
/// `high` on.
GPU_SIMILARITY_INLINE_HOST_DEVICE index_t bin_place(double key, double low, double high,
                                                    double scale, index_t bins) {
  if (key < low) return 0;
  if (key >= high) return bins + 1;
  return 1 + bin_of(key, low, scale, bins);
}

/// A counting pass that bins -p by bin_place(-p, low, high, scale, bins). It has bins + 1 steps:
/// from step k on, the place of p is above k.
struct p_bins {
  double low;
  double high;
  double scale;
  index_t bins;

  [[nodiscard]] index_t place_of(double p) const { return bin_place(-p, low, high, scale, bins); }
};

/// How many of `count` ascending steps a key reaches.
GPU_SIMILARITY_INLINE_HOST_DEVICE index_t steps_reached(const double* steps, index_t count,
                                                        double key) {
  index_t first = 0;
  for (index_t last = count; first < last;) {
    const index_t middle = first + (last - first) / 2;
    const bool reaches = key >= steps[middle];
    first = reaches ? middle + 1 : first;
    last = reaches ? last : middle;
  }
  return first;
}

/// Bins of the histogram of count_sink for each 1 of the statistic. Halving is exact.
GPU_SIMILARITY_INLINE_HOST_DEVICE double histogram_scale(index_t bins) {
  return static_cast<double>(bins) / 2;
}
/// The bin of a statistic in it: [-1, 1] in equal parts, with 1 in the last.
GPU_SIMILARITY_INLINE_HOST_DEVICE index_t histogram_bin(double statistic, index_t bins) {
  return bin_of(statistic, -1.0, histogram_scale(bins), bins);
}

}  // namespace gpu::inline v0::detail
