#pragma once
// p of single tests, adjusted for a family of tests.

#include <cstdint>
#include <span>
#include <vector>

#include <gpu/pair_sinks.hpp>

namespace gpu::stats {

/// p of each edge.
std::vector<double> p_of(std::span<const edge> edges);

/// `p`, of `family` tests or fewer, adjusted; NaN stays NaN.
std::vector<double> adjusted_p(std::vector<double> p, std::uint64_t family, adjustment adjust);

}  // namespace gpu::stats
