#include "pairs/differential/difference_discoveries.hpp"

#include <cstddef>
#include <cstdint>
#include <numeric>
#include <utility>
#include <vector>

#include "pairs/adjustment.hpp"
#include "pairs/differential/kept_pairs.hpp"
#include "stats/bins.hpp"

namespace gpu::inline v0::detail {
namespace {

bin_counts count_p(const difference_walk& walk, const discovery_search& search) {
  const bin_request request = detail::pass_of(search);
  const stats::difference_cut within(search.max_p, 0, search.side, walk.standard_error());
  const auto places = static_cast<std::size_t>(request.bins) + 2;
  std::vector<std::vector<std::uint64_t>> counts(static_cast<std::size_t>(walk.threads()));
  for (auto& own : counts) own.resize(places);
  for_each_kept(
      walk, within, nullptr, [](index_range) {},
      [&](index_t, index_t, int thread, const auto& verdict, double, double) {
        const index_t place =
            bin_place(-verdict.p, request.low, request.high, request.scale, request.bins);
        ++counts[static_cast<std::size_t>(thread)][static_cast<std::size_t>(place)];
      });
  bin_counts out{.bins = std::vector<std::uint64_t>(static_cast<std::size_t>(request.bins))};
  for (const auto& own : counts) {
    out.at_or_above += own.back();
    for (std::size_t b = 0; b < out.bins.size(); ++b) out.bins[b] += own[b + 1];
  }
  // All others, those with a larger p than max_p too, which were not looked at.
  out.below = walk.summary().pairs_tested -
              std::accumulate(out.bins.begin(), out.bins.end(), out.at_or_above);
  return out;
}

}  // namespace

double adjusted_max_p(const difference_walk& walk, const differential_filter& keep) {
  const pair_filter filter{.max_p = keep.max_p, .side = keep.side, .adjust = keep.adjust};
  return detail::adjust(filter, 0, walk.family(),
                        [&](const discovery_search& search) { return count_p(walk, search); })
      .max_p;
}

discovery_search begin_search(const difference_walk& walk, double max_p, tail side) {
  return detail::begin_search({.max_p = max_p, .side = side}, 0, walk.family());
}

discovery_counts count_discoveries(const difference_walk& walk, const discovery_search& search) {
  discovery_counts out;
  out.search = search;
  if (search.is_decided()) return out;
  bin_counts counts = count_p(walk, search);
  out.below = counts.below;
  out.at_or_above = counts.at_or_above;
  out.bins = std::move(counts.bins);
  return out;
}

}  // namespace gpu::inline v0::detail
