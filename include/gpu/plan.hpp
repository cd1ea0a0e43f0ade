#pragma once
/// @file
/// What a call would run and how large its result would be, without running it.

#include <cstddef>
#include <cstdint>
#include <string>

#include <gpu/detail/all_pairs.hpp>
#include <gpu/matrix_input.hpp>
#include <gpu/pair_options.hpp>
#include <gpu/pair_sinks.hpp>

namespace gpu {
inline namespace v0 {

/// What an all-pairs call would do.
struct pair_plan {
  backend used = backend::cpu;                     ///< Where it would run.
  std::string device = {};                         ///< CPU or GPU name; of several, "2 x name".
  pair_variant variant = pair_variant::automatic;  ///< What would run: never `automatic`.
  index_t tile_rows = 0;                           ///< Rows of one block of the pair matrix.
  index_t tile_cols = 0;                           ///< Columns of one block of the pair matrix.
  std::size_t workspace_bytes = 0;  ///< Scratch memory it would take, on each device.
  std::string choice = {};          ///< How pairs would be decided, and why, in words.
  std::uint64_t pairs = 0;          ///< rows (rows - 1) / 2.
  std::uint64_t sampled_pairs = 0;  ///< Pairs of the sample behind the estimates.
  double kept_estimate = 0;         ///< Expected number of kept pairs.
  double kept_upper = 0;            ///< An upper bound of it, at about three standard errors.
  double result_bytes = 0;          ///< Host memory of the estimated edges, 24 bytes each.
};

namespace detail {
GPU_SIMILARITY_EXPORT pair_plan plan_all_pairs(measure what, const any_matrix_view& data,
                                               const pair_options& options,
                                               const pair_filter& keep);
}  // namespace detail

/// What spearman_all_pairs would run for `data`, and how many pairs a sink with the filter `keep`
/// would keep, estimated from all pairs of a sample of at most 2048 rows drawn at even distances.
/// @throw as spearman_all_pairs. Cost: a fraction of a second at any number of rows.
template <class Data>
[[nodiscard]] pair_plan plan_spearman_all_pairs(const Data& data,
                                                const spearman_options& options = {},
                                                const pair_filter& keep = {}) {
  return detail::plan_all_pairs(detail::measure::spearman, detail::read_matrix(data), options,
                                keep);
}

/// The same for pearson_all_pairs.
template <class Data>
[[nodiscard]] pair_plan plan_pearson_all_pairs(const Data& data,
                                               const pearson_options& options = {},
                                               const pair_filter& keep = {}) {
  return detail::plan_all_pairs(detail::measure::pearson, detail::read_matrix(data), options, keep);
}

}  // namespace v0
}  // namespace gpu
