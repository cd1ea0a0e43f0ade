#pragma once
// Adjusted p by the largest statistics of shuffled tables.

#include <cstddef>
#include <span>
#include <vector>

#include <gpu/pair_sinks.hpp>

namespace gpu::stats {

/// What is large, of a statistic.
[[nodiscard]] double magnitude_of(double statistic, tail side);
/// No statistic has a smaller magnitude.
[[nodiscard]] double least_magnitude(tail side);

/// The least adjusted p that so many permutations give.
[[nodiscard]] double least_max_t_p(std::size_t permutations);
/// p of a statistic, and of those of edges. `maxima` descend.
[[nodiscard]] double max_t_p(std::span<const double> maxima, tail side, double statistic);
[[nodiscard]] std::vector<double> max_t_p(std::span<const double> maxima, tail side,
                                          std::span<const edge> edges);
/// The least magnitude whose p is at most `level`, which is not below least_max_t_p; infinity where
/// there is none.
[[nodiscard]] double max_t_cut(std::span<const double> maxima, tail side, double level);

}  // namespace gpu::stats
