#pragma once
// What decides a pair once its statistic is known: the cut, and the key that counting passes bin.

namespace gpu::inline v0::detail {

/// The filter as one test on the statistic: kept where r >= at_least or r <= at_most. NaN never is.
struct keep_range {
  double at_least;
  double at_most;
  [[nodiscard]] constexpr bool keeps(double r) const { return r >= at_least || r <= at_most; }
};

/// Which function of the statistic a binning pass bins.
enum class bin_key { magnitude, value, negated_value };
[[nodiscard]] constexpr double key_of(double r, bin_key key) {
  if (key == bin_key::magnitude) return r < 0 ? -r : r;
  return key == bin_key::value ? r : -r;
}

}  // namespace gpu::inline v0::detail
