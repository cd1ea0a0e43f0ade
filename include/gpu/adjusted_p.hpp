#pragma once
/// @file
/// The adjusted p of kept pairs, q: the smallest `max_p` with which a correction would keep them.

#include <cstdint>
#include <span>
#include <vector>

#include <gpu/execution.hpp>
#include <gpu/export.hpp>
#include <gpu/pair_sinks.hpp>

namespace gpu {
inline namespace v0 {

/// Adjusted p, in the order of `p`. bonferroni: min(1, p family). benjamini_hochberg: with the p in
/// ascending order, the least p_j family / j of the j from that place on, at most 1; equal p have
/// equal q. none: p.
///
/// The p of a family that are not given count as larger than all that are. So the q of
/// benjamini_hochberg are exact for all pairs with p <= max_p_effective of a call with that
/// adjustment, and upper bounds where another cut left some of those pairs out. NaN stays NaN, and
/// belongs to no rank. Cost: a sort of `p` for benjamini_hochberg, by the calling thread, with 16
/// bytes for each.
/// @param p in [0, 1], or NaN.
/// @param family tests in all: pair_summary::pairs_tested of a call that is not a part.
/// @param adjust the correction.
/// @return as many q as there are p.
/// @throw gpu::invalid_argument where p is outside [0, 1], or the family smaller than `p`.
[[nodiscard]] GPU_SIMILARITY_EXPORT std::vector<double> adjusted_p_values(std::span<const double> p,
                                                                          std::uint64_t family,
                                                                          adjustment adjust);

/// The same of the p of edges.
/// @param edges as a call gives them.
/// @param family as above.
/// @param adjust as above.
/// @return as above.
[[nodiscard]] GPU_SIMILARITY_EXPORT std::vector<double> adjusted_p_values(
    std::span<const edge> edges, std::uint64_t family, adjustment adjust);

/// The adjusted p of some pairs of a family, such as partners. `tests` has more p of the family. As
/// above, with the ranks of `tests`; the p of the family that are not there count as larger. So a
/// job whose parts give the p of their pairs by a stream_sink has the q of any of them. Cost: a
/// sort of `tests`, in place, and of `p`, with 16 bytes for each.
/// @param p in [0, 1], or NaN; for benjamini_hochberg each is also one of `tests`, and may be there
///   several times.
/// @param tests in [0, 1], one for each test; put in ascending order. Used only by
/// benjamini_hochberg.
/// @param family as above.
/// @param adjust as above.
/// @param exec cpu_threads of the sort of `tests`, and on_progress; this runs on the CPU and
/// refuses
///   every other setting.
/// @return as many q as there are p.
/// @throw gpu::invalid_argument where a p is outside [0, 1], or the family smaller than `tests`;
///   gpu::cancelled.
[[nodiscard]] GPU_SIMILARITY_EXPORT std::vector<double> adjusted_p_values(
    std::span<const double> p, std::span<double> tests, std::uint64_t family, adjustment adjust,
    const execution& exec = {});

}  // namespace v0
}  // namespace gpu
