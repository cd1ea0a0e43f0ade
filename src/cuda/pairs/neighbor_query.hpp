#pragma once
// What a table of neighbours asks of the search by groups.

#include <algorithm>
#include <limits>

#include "kernels/pairs/neighbors/kernels.hpp"
#include "pairs/engine.hpp"

namespace gpu::cuda {

/// Keys, and what the filter says of them.
inline kernels::neighbor_query make_query(const detail::top_k_request& request) {
  const double high = request.keep.at_least;
  const double low = request.keep.at_most;
  kernels::neighbor_query query{.key = detail::bin_key::value,
                                .k = request.k,
                                .at_least = high,
                                .at_most = low,
                                .certain = high,
                                .floor = high};
  constexpr double none = -std::numeric_limits<double>::infinity();
  if (high <= low) query.certain = query.floor = none;  // every statistic is kept
  if (request.order == neighbor_order::by_value) {
    if (low >= -1.0) query.floor = none;
    return query;
  }
  if (high <= low || (high <= 1.0 && low >= -1.0)) {
    query.key = detail::bin_key::magnitude;
    if (high > low) query.certain = std::max(high, -low), query.floor = std::min(high, -low);
    return query;
  }
  // One side alone: a magnitude is a value of that side, as long as it begins at 0 or beyond.
  if (low < -1.0 && high >= 0) return query;
  if (high > 1.0 && low <= 0) {
    query.key = detail::bin_key::negated_value;
    query.certain = query.floor = -low;
    return query;
  }
  query.key = detail::bin_key::magnitude;
  query.certain = std::numeric_limits<double>::infinity();
  query.floor = none;
  return query;
}

/// Elements from one row of maxima to the next: rows are read in whole pieces of 16 bytes. What
/// stands behind the last group is never written; choice_kernel masks it.
constexpr index_t maxima_pitch(index_t groups) {
  return (groups + 7) / 8 * 8;
}

}  // namespace gpu::cuda
