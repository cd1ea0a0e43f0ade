#pragma once
// Whether rows of equal ranks are folded into patterns: pure functions.

#include <gpu/detail/all_pairs.hpp>
#include <gpu/pair_options.hpp>
#include <gpu/pair_sinks.hpp>

#include "pairs/measures/measures.hpp"

namespace gpu::inline v0::detail {

/// Whether to look for rows of equal ranks. `variant` is the one that runs on backend `used`.
/// @throw gpu::unsupported where options.fold is `always` and there are no ranks to compare.
bool looks_for_patterns(const measure_traits& what, backend used, pair_variant variant,
                        index_t rows, const pair_options& options);

/// Patterns per row that has a statistic up to which to fold, given the variant that runs on
/// backend `used`; infinite for `always`.
double most_pattern_share(row_folding fold, backend used, pair_variant variant);

/// Whether `automatic` may fold for counts of `keep`: not for loose cuts, where rows without
/// weights are counted faster than patterns with them (warpgroup tensor cores, vector kernels of
/// the CPU).
bool folds_for_counts(const pair_filter& keep);

/// One in so many hashes of rows is sampled to estimate the number of patterns. All rows of a
/// pattern have one hash, so the sample holds whole patterns, and the number of those in it times
/// sampled_hashes is an unbiased estimate with a relative error of sqrt(sampled_hashes / patterns).
inline constexpr index_t sampled_hashes = 64;
/// Fewer rows than this are grouped without a sample.
inline constexpr index_t least_sampled_rows = 1 << 14;

}  // namespace gpu::inline v0::detail
