#pragma once
// From a pair_filter to one cut on the statistic, multiple testing included.

#include <cstdint>
#include <functional>
#include <vector>

#include <gpu/discovery.hpp>
#include <gpu/index.hpp>
#include <gpu/pair_sinks.hpp>

#include "pairs/engine.hpp"
#include "pairs/measures/measures.hpp"

namespace gpu::inline v0::detail {

/// The cut that decides.
struct effective_cut {
  double max_p = 1.0;  ///< On p, after the adjustment.
  /// Of benjamini_hochberg: pairs of the family that max_p keeps.
  std::uint64_t discoveries = 0;
  double min_abs = 0.0;  ///< The least magnitude that `keep` keeps on any side.
  detail::keep_range keep{0.0, 0.0};
};

/// Pairs of `area` that have a statistic.
std::uint64_t tested_pairs(const detail::row_info& rows, const detail::pair_area& area);

/// The cut of `filter` with max_p already adjusted, by the test of the measure.
effective_cut cut_at(const detail::measure_traits& what, double max_p, const pair_filter& filter,
                     observation_count observations);

/// The same from the weakest statistic whose p passes.
effective_cut cut_from(double critical, double max_p, const pair_filter& filter);

/// The cut for partners: with a one-sided tail none has the other sign, whatever p lets pass. The
/// best of a row by magnitude would else be those that the hypothesis is against.
effective_cut of_one_sign(effective_cut cut, tail side);

/// The order of partners of a tail. With `less` the smallest statistic is the best: no partner has
/// a positive one, so that is the one of the largest magnitude.
neighbor_order order_of_tail(neighbor_order order, tail side);

/// The search for the discoveries of `filter` before its first counting pass.
discovery_search begin_search(const pair_filter& filter, observation_count observations,
                              std::uint64_t family);
/// The counting pass that comes next. The search is not decided.
detail::bin_request pass_of(const discovery_search& search);
/// The search after that pass over all tests of the family.
discovery_search after_pass(const discovery_search& search, const detail::bin_counts& counts);
/// Adds the bins of another part of the same pass.
void add_bins(std::vector<std::uint64_t>& bins, const std::vector<std::uint64_t>& others);
/// All pairs that a pass counted.
std::uint64_t counted_pairs(const discovery_counts& counts);
/// max_p after the adjustment. Where there are no discoveries, that for one discovery, which no
/// pair reaches.
double adjusted_max_p(const discovery_search& search);

/// max_p after the adjustment; of benjamini_hochberg also the pairs of the family that it keeps.
struct adjusted_level {
  double max_p;
  std::uint64_t discoveries = 0;
};
using counting_pass = std::function<detail::bin_counts(const discovery_search&)>;
/// Resolves filter.adjust for a family of so many tests; for Benjamini-Hochberg by counting passes
/// over all of them. The textbook procedure on all sorted p gives the same set: with
/// p_(k) the largest that is at most k max_p / family, every pair with p <= p_(k).
adjusted_level adjust(const pair_filter& filter, observation_count observations,
                      std::uint64_t family, const counting_pass& count);

}  // namespace gpu::inline v0::detail
