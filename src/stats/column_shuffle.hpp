#pragma once
// Permutations of columns that a seed and a number name: no state goes from one to the next, so any
// of them is had at once, by any thread.

#include <cstdint>
#include <span>

#include <gpu/index.hpp>

namespace gpu::stats {

/// Fills `out` with permutation `number` of `seed`: Fisher and Yates's shuffle, from the last place
/// down, by SplitMix64 that begins at a hash of both. Every permutation is equally likely.
void shuffle_columns(std::uint64_t seed, index_t number, std::span<index_t> out);

}  // namespace gpu::stats
