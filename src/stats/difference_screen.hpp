#pragma once
// The screen in front of the cut on a difference of correlations: additions and multiplications,
// on host and device.

#include "base/host_device.hpp"

namespace gpu::stats {

/// Tells of most pairs of correlations whether difference_cut::decide() keeps them. The ratio of a
/// pair is (first - second) / (1 - first second), or its negative, whichever is to be large.
struct difference_screen {
  double bar;       ///< Pairs of a smaller ratio are dropped.
  double sure_bar;  ///< Pairs of a larger ratio are kept; NaN: of none is it known.
  double slack;     ///< For rounding: of the difference.
  double factor;    ///< -1 where the second is to be larger.
  bool takes_both;  ///< Whether either may be the larger.

  /// Whether the ratio may reach `least`. False where a value is NaN.
  [[nodiscard]] GPU_SIMILARITY_HOST_DEVICE bool may_reach(double first, double second,
                                                          double least_ratio) const {
    return passes(first, second, least_ratio * (1 - first * second) - slack);
  }
  /// Never false of a pair that is kept; false where a value is NaN.
  [[nodiscard]] GPU_SIMILARITY_HOST_DEVICE bool may_keep(double first, double second) const {
    return may_reach(first, second, bar);
  }
  /// Never true of a pair that is dropped.
  [[nodiscard]] GPU_SIMILARITY_HOST_DEVICE bool surely_keeps(double first, double second) const {
    return passes(first, second, sure_bar * (1 - first * second) + slack);
  }

 private:
  [[nodiscard]] GPU_SIMILARITY_HOST_DEVICE bool passes(double first, double second,
                                                       double least) const {
    const double difference = factor * (first - second);
    return difference >= least || (takes_both && -difference >= least);
  }
};

}  // namespace gpu::stats
