#pragma once
// Whole edges from packed ones.

#include <cstddef>

#include <gpu/pair_sinks.hpp>

#include "pairs/packed_edges.hpp"
#include "stats/significance/p_table.hpp"

namespace gpu::delivery {

/// Whether this machine computes p of packed edges so fast that unpacking by `threads` threads
/// keeps up with a device that sends them.
bool unpacks_fast(int threads);

/// Writes edges [first, first + count) of `from`, past the caches where the processor can, with the
/// bits that `p_of` gives; 0 for p where it has no table.
void unpack_edges(const detail::packed_edges& from, std::size_t first, std::size_t count,
                  const stats::p_function& p_of, edge* to);

namespace avx512 {
/// The same of whole groups of `edges_a_group` edges; `to` is at the start of a line of the cache.
inline constexpr std::size_t edges_a_group = 32;
void unpack_groups(const detail::packed_edges& from, std::size_t first, std::size_t groups,
                   const stats::p_function& p_of, edge* to);
}  // namespace avx512

}  // namespace gpu::delivery
