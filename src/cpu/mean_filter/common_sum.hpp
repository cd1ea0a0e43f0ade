#pragma once
// Far windows are cut (plan/mean_filter_variants.hpp): what all windows of a row have in common is
// summed once.

#include <cmath>

#include <gpu/execution.hpp>

#include "base/boundary_index.hpp"
#include "cpu/mean_filter/exact_sum.hpp"
#include "plan/mean_filter_variants.hpp"

namespace gpu::cpu {

/// The sum of what was cut off, as high + low, and the missing elements among it.
struct common_sum {
  double high = 0;
  double low = 0;
  double missing = 0;

  /// high + low + value, where `value` is the sum of the window that is left.
  [[nodiscard]] double with(double value) const {
    const double total = high + value;
    const double part = total - high;
    const double lost = (high - (total - part)) + (value - part);
    const double sum = total + (low + lost);
    return std::isnan(sum) ? total : sum;
  }
};

/// `count` times the sum `high` + `low`.
inline common_sum times(index_t count, double high, double low) {
  const auto factor = static_cast<double>(count);
  const double product = factor * high;
  if (!std::isfinite(product)) return {.high = product};
  return {.high = product, .low = std::fma(factor, high, -product) + factor * low};
}

/// What every window over `row` holds of the places that were cut off, times `scale`.
template <class In>
common_sum common_to_windows(const In* row, const detail::filter_shape& shape, nan_policy nans,
                             double scale = 1) {
  exact_sum sum;
  double plain = 0;
  index_t missing = 0;
  const auto add = [&](index_t index) {
    const double value = static_cast<double>(row[index]) * scale;
    if (nans == nan_policy::omit && std::isnan(value)) {
      ++missing;
      return;
    }
    plain += value;
    if (std::isfinite(value)) sum.add(value);
  };
  const auto counted = [&](index_t count) {
    if (count == 0) return common_sum{};  // 0 times an Inf would spoil every window
    common_sum out = {.high = plain};
    if (std::isfinite(plain)) {
      const double high = sum.rounded();
      sum.add(-high);
      out = times(count, high, sum.rounded());
    }
    out.missing = static_cast<double>(count) * static_cast<double>(missing);
    return out;
  };
  if (shape.periods > 0) {
    for (index_t e = 0; e < shape.period; ++e) {
      add(detail::extended_index(e, shape.cols, shape.boundary));
    }
    return counted(shape.periods);
  }
  add(0);
  const common_sum before = counted(shape.first_copies);
  sum = {};
  plain = 0;
  missing = 0;
  add(shape.cols - 1);
  const common_sum behind = counted(shape.last_copies);
  const double high = before.high + behind.high;
  const double part = high - before.high;
  const double lost = (before.high - (high - part)) + (behind.high - part);
  const double low = before.low + behind.low + lost;
  return {.high = high,
          .low = std::isfinite(high) ? low : 0.0,
          .missing = before.missing + behind.missing};
}

}  // namespace gpu::cpu
