#pragma once
// A sample of the rows of a call, and what its pairs tell about all of them: what a plan is made
// of.

#include <memory>
#include <string>

#include <gpu/plan.hpp>

#include "base/index_range.hpp"
#include "base/keep_range.hpp"
#include "pairs/engine.hpp"
#include "pairs/measures/measures.hpp"
#include "pairs/tables.hpp"
#include "plan/screen_choice.hpp"

namespace gpu::inline v0::detail {

/// Rows of a table, copied, and what they were drawn from.
struct table_sample {
  any_table rows;
  std::shared_ptr<const void> memory;  ///< Of the rows.
  index_t drawn_from = 0;
  [[nodiscard]] bool is_all() const { return drawn_from == rows_of(rows); }
};

/// Rows drawn from the rows `range` of a table in host memory: all of them where they are few. The
/// same ones for the same extents.
table_sample draw_rows(const any_table& table, index_range range);

/// The pairs of a sample, counted.
struct sample_result {
  pair_counts counts = {};
  double valid_x = 0;  ///< Rows of the sample with a statistic.
  double valid_y = 0;  ///< Those of y.
  /// Rows of the whole job that a row with a statistic may be paired with, as expected.
  double valid_partners = 0;
  double family = 0;    ///< Expected tests of the whole job.
  bool is_all = false;  ///< Whether nothing was left out.
  keep_range keep = {};
  cut_sample cut = {};
  std::string choice = {};  ///< The CPU's, in words.
};

/// The filter for the sample: a Bonferroni family is that of the whole input; Benjamini-Hochberg
/// depends on shares alone, so the sample's own cut estimates it.
pair_filter sample_filter(const pair_filter& keep, double family);

/// What the screens of a cut would leave of the pairs of the engine, of which `counts` are those
/// that it keeps.
cut_sample count_candidates(pair_engine& engine, const measure_traits& what, const keep_range& keep,
                            screen_use use, const pair_counts& counts);

/// Pairs of so many rows.
[[nodiscard]] inline double pairs_of(double rows) {
  return rows < 2 ? 0.0 : rows * (rows - 1) / 2;
}

/// Fills the estimates of a plan for `part_of_job` of the whole job.
void fill_estimates(const sample_result& sample, double part_of_job, pair_plan& out);

/// Then, of pairs to entries of a table of `k` partners: a pair is one of each of its rows, of x
/// against y of that of x alone, and a row has at most k.
void fill_partner_estimates(const sample_result& sample, const pair_input& input, index_t k,
                            pair_plan& out);

}  // namespace gpu::inline v0::detail
