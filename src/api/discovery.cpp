// Benjamini and Hochberg's cut of a job in parts: one counting pass, and what follows from its
// sums.
#include <gpu/discovery.hpp>

#include <fmt/format.h>

#include <utility>

#include <gpu/detail/all_pairs.hpp>
#include <gpu/error.hpp>

#include "api/all_pairs_run.hpp"
#include "pairs/adjustment.hpp"
#include "pairs/checks.hpp"

namespace gpu::inline v0 {

double discovery_search::max_p_effective() const {
  return detail::adjusted_max_p(*this);
}

discovery_counts& discovery_counts::operator+=(const discovery_counts& other) {
  if (!(search == other.search) || bins.size() != other.bins.size()) {
    throw invalid_argument("discovery_counts: got counts of another step, expected those of one");
  }
  below += other.below;
  at_or_above += other.at_or_above;
  detail::add_bins(bins, other.bins);
  return *this;
}

discovery_search next_search(const discovery_counts& counts) {
  if (counts.search.is_decided()) return counts.search;
  const std::uint64_t counted = detail::counted_pairs(counts);
  if (counted != counts.search.family) {
    throw invalid_argument(
        fmt::format("discovery_counts: got {} pairs, expected the {} tests of the whole job",
                    counted, counts.search.family));
  }
  return detail::after_pass(
      counts.search,
      {.below = counts.below, .at_or_above = counts.at_or_above, .bins = counts.bins});
}

namespace detail {

discovery_counts run_all_pairs(const pair_request& request, const discovery_sink& sink) {
  // Asks for p whatever max_p is.
  pair_filter keep = sink.keep;
  keep.adjust = adjustment::benjamini_hochberg;
  validate::check_filter(request.what, keep);
  pair_run run(request, part_shape::equal_pairs);
  discovery_counts out;
  pair_test& test = run.test();
  const discovery_search begun = detail::begin_search(sink.keep, test.observations(), run.family());
  out.search = sink.search.value_or(begun);
  validate::check_search(out.search, begun);
  if (!out.search.is_decided()) {
    test.begin(keep, run.engine());
    bin_counts counts = detail::count_pass(test, run.engine(), out.search);
    out.below = counts.below;
    out.at_or_above = counts.at_or_above;
    out.bins = std::move(counts.bins);
  }
  out.summary = run.finish(std::uint64_t{0});
  return out;
}

}  // namespace detail
}  // namespace gpu::inline v0
