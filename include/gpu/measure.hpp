#pragma once
/// @file
/// The measures that all pairs of rows are compared by: a value, and what is known of it.

#include <span>
#include <string_view>

#include <gpu/export.hpp>
#include <gpu/index.hpp>

namespace gpu {
inline namespace v0 {

/// What an all-pairs call computes of two rows: its *statistic*, a double in [-1, 1].
enum class measure {
  spearman,  ///< Spearman's rank correlation, rho, exact: gpu::spearman_all_pairs.
  pearson,   ///< Pearson's product-moment correlation, r: gpu::pearson_all_pairs.
  cosine,    ///< Cosine of the angle between the rows: gpu::cosine_all_pairs.
  bicor,     ///< Biweight midcorrelation, robust against outliers: gpu::bicor_all_pairs.
  kendall,   ///< Kendall's tau-b, exact: gpu::kendall_all_pairs.
  tanimoto,  ///< Tanimoto (Jaccard) similarity of rows of bits: gpu::tanimoto_all_pairs.
  dice,      ///< Dice (Sorensen) similarity of rows of bits: gpu::dice_all_pairs.
  tversky    ///< Tversky's index of rows of bits: gpu::tversky_all_pairs.
};

/// The significance test behind the p-values of a measure.
enum class significance {
  none,       ///< It has no p: `p` of an edge is NaN, and a cut on p throws gpu::unsupported.
  student_t,  ///< Student's t with cols - 2 degrees of freedom: see gpu/p_value.hpp.
  /// The same, but never below least_rank_p: that of Spearman.
  floored_t,
  kendall,  ///< That of Kendall's S, which depends on the ties of both rows: kendall_p_value.
  /// Spearman's by permutations where neither row has ties, else floored_t: spearman_p_value. No
  /// measure has it by itself: see pair_options::p_method.
  permutations
};

/// "none", "student_t", "floored_t", "kendall", "permutations".
[[nodiscard]] GPU_SIMILARITY_EXPORT std::string_view to_string(significance test) noexcept;

/// The confidence interval of a measure's statistic, see gpu/p_value.hpp.
enum class interval_method {
  none,          ///< It has none: asking for one throws gpu::unsupported.
  fisher,        ///< Fisher's z with the standard error 1 / sqrt(observations - 3).
  bonett_wright  ///< Fisher's z with Bonett's and Wright's error, for ranks.
};

/// Whether rows that are equal to a measure share their statistics bit for bit, so that they can be
/// folded into one pattern: see pair_options::fold.
enum class equal_rows {
  apart,  ///< They are computed one by one; pair_options::fold `always` throws gpu::unsupported.
  folded  ///< They can be folded.
};

/// What of a row's values counts.
enum class value_scale {
  ordinal,  ///< Their order alone: an increasing change of all values of a row changes nothing.
  numeric   ///< The values.
};

/// What is known of a measure without computing anything.
struct measure_info {
  measure what;                  ///< The measure.
  std::string_view name;         ///< Of options, commands and files, as "spearman".
  std::string_view title;        ///< In a sentence, as "Spearman".
  std::string_view description;  ///< In three words, as "Rank correlation".
  std::string_view symbol;       ///< Of the statistic, as "rho": the name of its column in a file.
  significance test;             ///< Where its p comes from.
  interval_method interval;      ///< Where its confidence interval comes from.
  value_scale scale;             ///< What of the values counts.
  equal_rows equals;             ///< Whether equal rows can be folded.
  index_t least_cols;            ///< Columns that it takes at least.
  index_t most_cols;             ///< Columns that it takes at most.
  double z_variance = 0;         ///< Of Fisher's z, times cols - 3; 0: no differential correlation.
};

/// Every measure of rows of numbers, in the order of the enumeration.
[[nodiscard]] GPU_SIMILARITY_EXPORT std::span<const measure> all_measures() noexcept;

/// Every measure of rows of bits, gpu::bit_matrix; their statistic is in [0, 1].
[[nodiscard]] GPU_SIMILARITY_EXPORT std::span<const measure> bit_measures() noexcept;

/// What is known of a measure; lives as long as the program.
/// @throw gpu::invalid_argument if `what` is not a value of the enumeration.
[[nodiscard]] GPU_SIMILARITY_EXPORT const measure_info& info_of(measure what);

/// The measure of that name.
/// @throw gpu::invalid_argument where there is none, with the names there are.
[[nodiscard]] GPU_SIMILARITY_EXPORT measure measure_of(std::string_view name);

/// The name of a measure; "unknown" if `what` is not a value of the enumeration.
[[nodiscard]] GPU_SIMILARITY_EXPORT std::string_view to_string(measure what) noexcept;

}  // namespace v0
}  // namespace gpu
