#pragma once
// Numbers drawn at random without a state: each is a function of its place in a sequence, so that
// threads draw in any order, on host and device alike.

#include <cstdint>

#include <gpu/index.hpp>
#include <gpu/pair_sinks.hpp>

namespace gpu::inline v0::detail {

/// A well mixed 64-bit number for each place of a sequence (SplitMix64).
constexpr std::uint64_t random_at(std::uint64_t place) {
  return split_mix((place + 1) * 0x9e3779b97f4a7c15ULL);
}

/// A number in [0, count) from 32 random bits; count < 2^32.
constexpr index_t draw_below(std::uint64_t bits, index_t count) {
  return static_cast<index_t>(bits * static_cast<std::uint64_t>(count) >> 32);
}

}  // namespace gpu::inline v0::detail
