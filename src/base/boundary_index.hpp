#pragma once
// Which element of a row stands at a place beyond its ends. Used by host and device code.

#include <gpu/mean_filter.hpp>

namespace gpu::inline v0::detail {

/// The element of a row of n >= 1 elements that stands at place e of the extended row; -1 where
/// nothing does (zero, shrink, valid). Periodic: right for any distance from the row.
constexpr index_t extended_index(index_t e, index_t n, boundary mode) {
  if (e >= 0 && e < n) return e;
  if (mode == boundary::nearest) return e < 0 ? 0 : n - 1;
  if (mode == boundary::zero || mode == boundary::shrink || mode == boundary::valid) return -1;
  if (mode == boundary::mirror && n == 1) return 0;
  const index_t period =
      mode == boundary::wrap ? n : (mode == boundary::reflect ? 2 * n : 2 * n - 2);
  const index_t rest = e % period;
  const index_t m = rest < 0 ? rest + period : rest;
  if (m < n) return m;
  return mode == boundary::reflect ? period - 1 - m : period - m;
}

}  // namespace gpu::inline v0::detail
