#pragma once
// Rows of equal ranks where only rows of one section are folded with each other: whether that pays,
// and the patterns of all sections together.

#include <cstdint>
#include <span>
#include <vector>

#include <gpu/index.hpp>
#include <gpu/pair_sinks.hpp>

#include "cpu/pairs/rows/input_rows.hpp"

namespace gpu::cpu {

/// Whether folding the rows of every section, so many each, into so many patterns leaves at most
/// most_share^2 of the pairs: patterns are at most `most_share` of the rows, on average.
bool folding_pays(const row_selection& selection, std::span<const double> rows,
                  std::span<const double> patterns, double most_share);

/// What a survey knows of the rows of a section.
struct section_sample {
  index_t rows = 0;
  std::vector<std::uint64_t> hashes = {};  ///< Those that detail::is_sampled() takes, at least.
};
/// Whether folding_pays() by that, or may where sections are too small for a sample.
bool promises_patterns(const row_selection& selection, std::span<const section_sample> samples,
                       double most_share);

/// The patterns of all sections, those of the first before those of the second. `found` numbers the
/// packed rows of its section, which are rows `original` of the input of `input_rows` rows.
detail::row_patterns join_patterns(std::vector<detail::row_patterns> found,
                           std::span<const std::span<const node_id>> original, index_t input_rows);

}  // namespace gpu::cpu
