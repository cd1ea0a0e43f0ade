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

inline double factorial(gpu::index_t n) {
  double out = 1;
  for (gpu::index_t k = 2; k <= n; ++k) out *= static_cast<double>(k);
  return out;
}

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

/// How many permutations of a row leave it as it is.
inline std::int64_t permutations_alike(const std::vector<int>& row) {
  std::vector<std::size_t> order(row.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::int64_t out = 0;
  do {
    bool is_same = true;
    for (std::size_t k = 0; k < row.size(); ++k) is_same &= row[order[k]] == row[k];
    out += is_same ? 1 : 0;
  } while (std::next_permutation(order.begin(), order.end()));
  return out;
}

/// Every ascending row of `n` values that has at least two, by its ties.
inline std::vector<std::vector<int>> rows_by_ties(gpu::index_t n) {
  std::vector<std::vector<int>> out;
  for (unsigned steps = 1; steps < 1U << (n - 1); ++steps) {
    std::vector<int> row{0};
    for (gpu::index_t k = 0; k + 1 < n; ++k) {
      row.push_back(row.back() + static_cast<int>(steps >> k & 1U));
    }
    out.push_back(row);
  }
  return out;
}

}  // namespace gpu_test
