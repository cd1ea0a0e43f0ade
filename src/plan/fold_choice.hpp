#pragma once
// Whether rows of equal ranks are folded into patterns: pure functions.

#include <gpu/detail/all_pairs.hpp>
#include <gpu/pair_options.hpp>
#include <gpu/pair_sinks.hpp>

#include "pairs/measures/measures.hpp"

namespace gpu::inline v0::detail {

/// Which jobs have their rows folded.
enum class fold_scope {
  never,
  many_rows,     ///< Those of many rows, on either backend.
  few_patterns,  ///< On the CPU those of few columns, see has_few_patterns.
  both,
  always  ///< However few rows repeat.
};

/// What is known of a job before its rows are ranked.
struct fold_job {
  index_t rows = 0;
  index_t cols = 0;
  fold_scope scope = fold_scope::many_rows;
};

/// What was asked for, of a sink for which folding pays in the jobs of `of_sink`.
fold_scope scope_of(row_folding asked, fold_scope of_sink);

/// Whether to look for rows of equal ranks. `variant` is the one that runs on backend `used`.
/// @throw gpu::unsupported where `always` was asked for and there are no ranks to compare.
bool looks_for_patterns(const measure_traits& what, backend used, pair_variant variant,
                        const fold_job& job);

/// Patterns per row that has a statistic up to which folding pays, given the variant that runs on
/// backend `used`; infinite for `always`.
double most_pattern_share(fold_scope scope, backend used, pair_variant variant);

/// Whether rows of so few columns have few ranks between them, whatever their values: less than a
/// thirty-second of the rows. Of 3 columns there are 13, of 4 columns 75.
bool has_few_patterns(index_t rows, index_t cols);

/// For which jobs folding pays, of counts of `keep`. Of loose cuts only those of few patterns: else
/// rows without weights are counted faster than patterns with them (warpgroup tensor cores, vector
/// kernels of the CPU).
fold_scope scope_of_counts(const pair_filter& keep);

/// The same of edges: those in order are copied pattern by pattern. As they are found they
/// are written no faster.
fold_scope scope_of_edges(edge_order order);

}  // namespace gpu::inline v0::detail
