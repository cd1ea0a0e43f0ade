#pragma once
// Whether a cut is strict enough to screen for, and by which screen: pure functions of the cut, the
// shape and a sample of the rows' own pairs.

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <gpu/detail/all_pairs.hpp>
#include <gpu/index.hpp>

#include "base/keep_range.hpp"
#include "pairs/measures/measures.hpp"
#include "plan/machine_costs.hpp"
#include "plan/screen_policy.hpp"

namespace gpu::inline v0::detail {

/// Screens there are for one cut, at most.
inline constexpr int most_screens = 2;

/// What random pairs of the rows tell about a cut.
struct cut_sample {
  std::uint64_t pairs = 0;  ///< Pairs with a statistic; 0: nothing is known of the rows.
  std::uint64_t kept = 0;
  /// Those that each screen of screens_for would leave to be decided.
  std::array<std::uint64_t, most_screens> candidates = {};

  [[nodiscard]] double kept_share() const { return share(kept); }
  /// Bounds of the share of kept pairs, at three standard errors.
  [[nodiscard]] double least_kept_share() const;
  [[nodiscard]] double most_kept_share() const;
  [[nodiscard]] double share(std::uint64_t of) const {
    return pairs == 0 ? 0.0 : static_cast<double>(of) / static_cast<double>(pairs);
  }
};

struct screen_choice {
  kernels::screen_operand operand;
  int depth;   ///< Bytes of a packed row.
  double cut;  ///< Pairs below this magnitude are dropped.
  /// The time of a pair that is dropped, and of deciding a candidate, in units of the time for one
  /// pair of what would decide every pair.
  double pair_cost;
  double candidate_cost;
  double candidates = 0;  ///< That it is expected to leave of a pair, where it was chosen.
};

/// A screen that can find a cut's pairs.
struct possible_screen {
  screen_choice screen;
  /// Pairs of at least this magnitude may pass it.
  double reach;

  /// The time of a job whose pairs leave so many candidates each, where deciding every pair takes
  /// 1.
  [[nodiscard]] double time_of(double share) const {
    return screen.pair_cost + share * screen.candidate_cost;
  }
};

/// What is done with the pairs, and so what the screen competes with.
enum class screen_use {
  edges,           ///< Tiles that decide every pair, and a queue of the kept ones.
  counts,          ///< Counts class by class.
  weighted_counts  ///< Tiles that decide every pair.
};

/// The screens for `keep`, the fastest first; none where pairs near 0 are kept. `cols` are those of
/// the input, here and below; of a packed row they are what the measure says.
std::vector<possible_screen> screens_for(const measure_traits& what, const keep_range& keep,
                                         index_t cols, screen_use use,
                                         const cuda_costs& machine = default_cuda_costs);

/// The screen that takes the least time, or none where deciding every pair does. Where `sample`
/// knows nothing, rows are taken to be independent.
std::optional<screen_choice> choose_screen(const measure_traits& what, const keep_range& keep,
                                           index_t cols, screen_use use, const cut_sample& sample,
                                           const cuda_costs& machine = default_cuda_costs);

/// Whether every pair of a job is decided before a screen of any cut is under way.
bool is_short_for_screens(const measure_traits& what, index_t cols, screen_use use, double pairs,
                          const cuda_costs& machine = default_cuda_costs);

/// How far a screen has come.
struct screen_progress {
  double pairs;       ///< That it has looked at.
  double candidates;  ///< That it has left so far.
  double all_pairs;   ///< Of the job.
};

/// Whether a screen goes on, which may leave more candidates than its sample promised. If it gives
/// up, every pair is decided from the start. So it gives up only after it has spent a twentieth of
/// the time that this takes, and where its rest would take longer than this.
bool screen_goes_on(const screen_choice& screen, const screen_progress& so_far);

/// The choice for a job of so many pairs in words, for a plan.
std::string explain_screen(const measure_traits& what, const keep_range& keep, index_t cols,
                           screen_use use, double pairs, const cut_sample& sample);

/// Random pairs that tell enough about `pairs` pairs of rows of `cols` observations, for well under
/// a hundredth of the work on them.
std::uint64_t sample_size(double pairs, index_t cols);

/// Bytes of a packed row of exact ranks; at most 128 columns.
int screen_depth(index_t cols);
/// Bytes of a packed row of rounded values.
int rounded_depth(index_t cols);

}  // namespace gpu::inline v0::detail
