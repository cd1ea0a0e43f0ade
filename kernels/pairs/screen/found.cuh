#pragma once
// What the exact tests of a screen's candidates share: how many there are, and where kept pairs go.

#include "base/keep_range.hpp"
#include "kernels/pairs/screen/kernels.hpp"
#include "stats/statistic.hpp"

namespace gpu::kernels {

/// Candidates that are in the list.
__device__ inline std::uint64_t listed(const screen_candidates& from) {
  return *from.count < from.capacity ? *from.count : from.capacity;
}

/// Adds the pair of rows a and b.
__device__ inline void add_edge(std::uint32_t a, std::uint32_t b, double statistic,
                                const screened_edges& to) {
  const std::uint64_t slot = atomicAdd(reinterpret_cast<unsigned long long*>(to.kept), 1ULL);
  if (slot < to.capacity) to.list[slot] = {a < b ? a : b, a < b ? b : a, statistic};
}

/// The same where the statistic of rows of ranks is kept: `sum` is that of their products.
__device__ inline void add_kept_ranks(std::uint32_t a, std::uint32_t b, std::int64_t sum,
                                      const std::int64_t* square_sums, const detail::pair_cut& keep,
                                      const screened_edges& to) {
  const std::int64_t x_squares = square_sums[a];
  const std::int64_t y_squares = square_sums[b];
  const double rho = detail::rho_of(sum, x_squares, y_squares);
  if (keep.keeps(rho, x_squares, y_squares)) add_edge(a, b, rho, to);
}

}  // namespace gpu::kernels
