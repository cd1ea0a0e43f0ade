#pragma once
// What the exact tests of a screen's candidates share: how many there are, and where kept pairs go.

#include "kernels/pairs/screen/kernels.hpp"

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

}  // namespace gpu::kernels
