#pragma once
// How many observations a test of a correlation needs, and how many it can have.

#include <fmt/format.h>

#include <gpu/error.hpp>
#include <gpu/index.hpp>

namespace gpu::stats {

inline constexpr index_t least_observations = 3;
inline constexpr index_t most_observations = 1'000'000'000'000'000;

/// @throw gpu::invalid_argument that names the argument; NaN is outside of the limits too.
inline void check_observations(const char* name, observation_count observations) {
  const double got = observations;
  if (got >= least_observations && got <= most_observations) return;
  throw invalid_argument(fmt::format("{}: got {}, expected from {} to {}", name, got,
                                     least_observations, most_observations));
}

}  // namespace gpu::stats
