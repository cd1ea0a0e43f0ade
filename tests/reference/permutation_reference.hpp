#pragma once
// A slow oracle of the exact test of Spearman's rho: every permutation is looked at. It shares no
// code with the library.

#include <algorithm>
#include <cstdint>
#include <map>
#include <numeric>
#include <vector>

#include <gpu/index.hpp>
#include <gpu/pair_sinks.hpp>

namespace gpu_test {

/// How many permutations of 0, ..., n - 1 have each sum of squared differences from their places.
inline std::map<std::int64_t, std::int64_t> permutations_by_sum(gpu::index_t n) {
  std::vector<std::int64_t> order(static_cast<std::size_t>(n));
  std::iota(order.begin(), order.end(), 0);
  std::map<std::int64_t, std::int64_t> out;
  do {
    std::int64_t sum = 0;
    for (std::int64_t place = 0; place < n; ++place) {
      const std::int64_t difference = order[static_cast<std::size_t>(place)] - place;
      sum += difference * difference;
    }
    ++out[sum];
  } while (std::next_permutation(order.begin(), order.end()));
  return out;
}

/// p of a sum: the share of permutations that are as far out.
inline long double permutation_p(const std::map<std::int64_t, std::int64_t>& count,
                                 std::int64_t sum, gpu::tail side) {
  long double all = 0;
  long double at_most = 0;   // rho as large
  long double at_least = 0;  // rho as small
  for (const auto& [own, permutations] : count) {
    all += permutations;
    if (own <= sum) at_most += permutations;
    if (own >= sum) at_least += permutations;
  }
  if (side == gpu::tail::greater) return at_most / all;
  if (side == gpu::tail::less) return at_least / all;
  return std::min(1.0L, 2 * std::min(at_most, at_least) / all);
}

}  // namespace gpu_test
