#include "pairs/adjustment.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <iterator>
#include <limits>
#include <numeric>
#include <vector>

#include "stats/bins.hpp"
#include "stats/significance/significance.hpp"

namespace gpu::inline v0::detail {
namespace {

using detail::bin_counts;
using detail::bin_key;
using detail::bin_request;

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr index_t bins_per_pass = detail::most_bins;

// How many keys are at least some cut, as far as one counting pass tells.
class survivor_counts {
 public:
  survivor_counts(const bin_request& request, const bin_counts& counts) : request_(request) {
    // at_least_[b]: keys in bin b and everything above.
    at_least_.resize(counts.bins.size() + 1);
    at_least_.back() = counts.at_or_above;
    for (std::size_t b = counts.bins.size(); b-- > 0;) {
      at_least_[b] = at_least_[b + 1] + counts.bins[b];
    }
  }

  // Bounds of the number of keys >= cut, for cut >= low.
  struct bounds {
    std::uint64_t least;
    std::uint64_t most;
  };
  [[nodiscard]] bounds survivors(double cut) const {
    if (cut <= request_.low) return {at_least_.front(), at_least_.front()};
    if (cut == request_.high) return {at_least_.back(), at_least_.back()};
    if (cut > request_.high) return {0, at_least_.back()};
    const std::size_t bin = bin_of(cut);
    const bool cut_starts_its_bin = bin > 0 && bin_of(std::nextafter(cut, -infinity)) < bin;
    return {cut_starts_its_bin ? at_least_[bin] : at_least_[bin + 1], at_least_[bin]};
  }

 private:
  // Of a key that is at least `low`. It never falls with the key.
  [[nodiscard]] std::size_t bin_of(double key) const {
    return static_cast<std::size_t>(
        detail::bin_of(key, request_.low, request_.scale, request_.bins));
  }

  bin_request request_;
  std::vector<std::uint64_t> at_least_;
};

bin_key key_of(tail side) {
  if (side == tail::two_sided) return bin_key::magnitude;
  return side == tail::greater ? bin_key::value : bin_key::negated_value;
}

constexpr std::uint64_t one = 1;

double share(const discovery_search& search, std::uint64_t discoveries) {
  return search.max_p * static_cast<double>(discoveries) / static_cast<double>(search.family);
}

// The cut on the key (larger is more extreme) for that many discoveries.
double key_cut(const discovery_search& search, std::uint64_t discoveries) {
  // Of rows with missing values p itself is binned, with its sign changed.
  if (search.observations == 0) return -share(search, discoveries);
  const double cut =
      stats::critical_value(share(search, discoveries), search.observations, search.side);
  return search.side == tail::less ? -cut : cut;
}

template <class Survivors>
std::uint64_t descend(const discovery_search& search, const Survivors& survivors) {
  std::uint64_t k = search.most;
  while (k > 0) {
    const std::uint64_t next = std::min(k, survivors(key_cut(search, k)));
    if (next == k) break;
    k = next;
  }
  return k;
}

}  // namespace

// The Benjamini-Hochberg procedure as a fixed point. With N(k) the number of pairs whose p is at
// most k alpha / family, the number of discoveries is the largest k with N(k) >= k: stepping from
// k = family to N(k) until nothing changes ends there, because N never falls with k. A counting
// pass gives bounds of N for every k at once; stepping with the upper and the lower bounds encloses
// the answer, and the next pass bins the enclosed range alone. Each pass starts exactly at the
// cut of the upper bound, so it takes at least one exact step.
discovery_search begin_search(const pair_filter& filter, observation_count observations,
                              std::uint64_t family) {
  return {.max_p = filter.max_p,
          .side = filter.side,
          .observations = observations,
          .family = family,
          .least = 0,
          .most = family};
}

bin_request pass_of(const discovery_search& search) {
  const double low = key_cut(search, search.most);
  const double high = key_cut(search, std::max(search.least, one));
  bin_request request{
      .key = search.observations == 0 ? bin_key::negated_value : key_of(search.side),
      .low = low,
      .high = std::max(high, std::nextafter(low, infinity)),
      .scale = 0,
      .bins = bins_per_pass};
  request.scale = static_cast<double>(bins_per_pass) / (request.high - request.low);
  return request;
}

discovery_search after_pass(const discovery_search& search, const bin_counts& counts) {
  const survivor_counts found(pass_of(search), counts);
  discovery_search next = search;
  next.least = descend(search, [&](double cut) { return found.survivors(cut).least; });
  next.most = descend(search, [&](double cut) { return found.survivors(cut).most; });
  return next;
}

void add_bins(std::vector<std::uint64_t>& bins, const std::vector<std::uint64_t>& others) {
  std::transform(bins.begin(), bins.end(), others.begin(), bins.begin(), std::plus<>());
}

std::uint64_t counted_pairs(const discovery_counts& counts) {
  return std::accumulate(counts.bins.begin(), counts.bins.end(), counts.below + counts.at_or_above);
}

double adjusted_max_p(const discovery_search& search) {
  if (search.family == 0) return search.max_p;
  return share(search, std::max(search.most, one));
}

std::uint64_t tested_pairs(const detail::row_info& rows, const detail::pair_area& area) {
  std::vector<index_t> without;
  std::merge(rows.constant_rows.begin(), rows.constant_rows.end(), rows.nan_rows.begin(),
             rows.nan_rows.end(), std::back_inserter(without));
  return detail::pairs_in(area, without);
}

effective_cut cut_at(const detail::measure_traits& what, double max_p, const pair_filter& filter,
                     observation_count observations) {
  return cut_from(stats::critical_value(what.info.test, max_p, observations, filter.side), max_p,
                  filter);
}

effective_cut cut_from(double critical, double max_p, const pair_filter& filter) {
  effective_cut out{.max_p = max_p, .min_abs = 0, .keep = {infinity, -infinity}};
  switch (filter.side) {
    case tail::two_sided:
      out.keep.at_least = std::max(critical, filter.min_abs);
      out.keep.at_most = -out.keep.at_least;
      out.min_abs = out.keep.at_least;
      break;
    case tail::greater:
      out.keep.at_least = filter.min_abs > 0 ? std::max(critical, filter.min_abs) : critical;
      out.min_abs = std::max(0.0, out.keep.at_least);
      break;
    case tail::less:
      out.keep.at_most = filter.min_abs > 0 ? std::min(critical, -filter.min_abs) : critical;
      out.min_abs = std::max(0.0, -out.keep.at_most);
      break;
  }
  return out;
}

effective_cut of_one_sign(effective_cut cut, tail side) {
  if (side == tail::greater) cut.keep.at_least = std::max(cut.keep.at_least, 0.0);
  if (side == tail::less) cut.keep.at_most = std::min(cut.keep.at_most, 0.0);
  return cut;
}

neighbor_order order_of_tail(neighbor_order order, tail side) {
  return side == tail::less && order == neighbor_order::by_value ? neighbor_order::by_absolute_value
                                                                 : order;
}

adjusted_level adjust(const pair_filter& filter, observation_count observations,
                      std::uint64_t family, const counting_pass& count) {
  if (filter.adjust == adjustment::none || family == 0) return {filter.max_p};
  if (filter.adjust == adjustment::bonferroni) {
    return {filter.max_p / static_cast<double>(family)};
  }
  discovery_search search = begin_search(filter, observations, family);
  while (!search.is_decided()) search = after_pass(search, count(search));
  return {adjusted_max_p(search), search.most};
}

}  // namespace gpu::inline v0::detail
