#pragma once
// p of single tests, adjusted for a family of tests.

#include <cstdint>
#include <span>
#include <vector>

#include <gpu/pair_sinks.hpp>

namespace gpu::inline v0::detail {

/// p of each edge.
std::vector<double> p_of(std::span<const edge> edges);

/// `p`, of `family` tests or fewer, adjusted; NaN stays NaN.
std::vector<double> adjusted_p(std::vector<double> p, std::uint64_t family, adjustment adjust);

/// The same of some pairs of a family, in place. For benjamini_hochberg `tests` are the p of all
/// its pairs up to the largest of `p` at least, and are sorted by `threads`; else they are left
/// alone.
void adjust_within(std::span<double> p, std::span<double> tests, std::uint64_t family,
                   adjustment adjust, int threads);

}  // namespace gpu::inline v0::detail
