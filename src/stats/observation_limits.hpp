#pragma once
// How many observations a test of a correlation takes.

#include <gpu/index.hpp>

namespace gpu::stats {

inline constexpr index_t least_observations = 3;
inline constexpr index_t most_observations = 1'000'000'000'000'000;

}  // namespace gpu::stats
