#pragma once
// Which element of a row stands at a place beyond its ends. Used by host and device code.

#include <gpu/mean_filter.hpp>

namespace gpu::detail {

/// The element of a row of n >= 1 elements that stands at place e of the extended row; -1 where
/// nothing does (zero, shrink, valid). Periodic: right for any distance from the row.
constexpr index_t extended_index(index_t e, index_t n, boundary edges) {
  if (e >= 0 && e < n) return e;
  if (edges == boundary::nearest) return e < 0 ? 0 : n - 1;
  if (edges == boundary::zero || edges == boundary::shrink || edges == boundary::valid) return -1;
  if (edges == boundary::mirror && n == 1) return 0;
  const index_t period =
      edges == boundary::wrap ? n : (edges == boundary::reflect ? 2 * n : 2 * n - 2);
  const index_t rest = e % period;
  const index_t m = rest < 0 ? rest + period : rest;
  if (m < n) return m;
  return edges == boundary::reflect ? period - 1 - m : period - m;
}

}  // namespace gpu::detail
