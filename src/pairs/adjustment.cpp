#include "pairs/adjustment.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <iterator>
#include <limits>
#include <memory>
#include <numeric>
#include <optional>
#include <utility>
#include <variant>
#include <vector>

#include "pairs/shared_kendall.hpp"
#include "stats/bins.hpp"
#include "stats/significance/correlation_test.hpp"
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

effective_cut resolve_cut(const detail::measure_traits& what, const pair_filter& filter,
                          detail::pair_engine& engine, std::uint64_t family) {
  const observation_count observations = what.observations_of(engine.rows().cols);
  const adjusted_level level = adjust(
      filter, observations, family,
      [&](const discovery_search& search) { return engine.bin_statistics(pass_of(search)); });
  effective_cut cut = cut_at(what, level.max_p, filter, observations);
  if (level.discoveries == 0) return cut;
  // The search knows Student's t alone. What it finds above the least p is right; below there is
  // nothing.
  const double weakest =
      stats::critical_value(what.info.test, cut.max_p, observations, filter.side);
  cut.discoveries = std::isinf(weakest) ? 0 : level.discoveries;
  return cut;
}

namespace {

// p of rows with missing values as counting passes bin it: one of them.
struct missing_tests {
  const detail::observation_tests* observations = nullptr;
  const detail::shared_kendall_cut* kendall = nullptr;

  [[nodiscard]] bin_request of(bin_request request) const {
    request.tests = observations;
    request.tied.shared = kendall;
    return request;
  }
};

// Pairs that have a statistic: those whose p is not no_p.
std::uint64_t count_tested(detail::pair_engine& engine, const missing_tests& tests) {
  constexpr double above_no_p = -1.5;  // as a key, which is -p
  const bin_counts counts = engine.bin_statistics(tests.of(
      {.key = bin_key::negated_value, .low = above_no_p, .high = infinity, .scale = 0, .bins = 1}));
  return counts.bins.front() + counts.at_or_above;
}

effective_cut sided_cut(double critical, double max_p, const pair_filter& filter,
                        bool of_one_side) {
  const effective_cut cut = cut_from(critical, max_p, filter);
  return of_one_side ? of_one_sign(cut, filter.side) : cut;
}

// As cut_missing.
effective_cut cut_shared_kendall(double max_p, const pair_filter& filter,
                                 detail::shared_kendall& kendall, bool of_one_side) {
  const auto cut_of = [&](double critical) {
    return sided_cut(critical, max_p, filter, of_one_side);
  };
  const stats::kendall_test& test = kendall.tests().of(kendall.tests().most());
  // Whatever the statistic, as far as p is concerned.
  const double any =
      stats::critical_value(significance::none, 1.0, test.observations(), filter.side);
  kendall.set_cut(max_p, filter.side, cut_of(any).keep);
  return cut_of(stats::kendall_cut(test, max_p, filter.side).weakest_untied());
}

// The p of `missing` that are at most max_p, and where there is Kendall's test its cut.
missing_tests tests_of(const detail::missing_values& missing, double max_p, tail side,
                       std::optional<detail::shared_kendall_cut>& cut) {
  if (missing.kendall == nullptr) return {.observations = missing.tests.get()};
  return {.kendall = &cut.emplace(missing.kendall->tests(), max_p, side)};
}

}  // namespace

effective_cut cut_missing(const detail::measure_traits& what, double max_p,
                          const pair_filter& filter, detail::missing_values& missing,
                          bool of_one_side) {
  if (missing.kendall) return cut_shared_kendall(max_p, filter, *missing.kendall, of_one_side);
  const significance test = what.info.test;
  const detail::observation_tests& tests = *missing.tests;
  const auto cut_of = [test, max_p, filter, of_one_side, &tests](index_t shared) {
    const double critical = stats::critical_value(test, max_p, tests.table_of(shared), filter.side);
    return sided_cut(critical, max_p, filter, of_one_side);
  };
  missing.cuts = std::make_unique<detail::observation_cuts>(
      tests.least(), tests.most(), [cut_of](index_t shared) { return cut_of(shared).keep; });
  return cut_of(tests.most());
}

effective_cut resolve_pairwise_cut(const detail::measure_traits& what, const pair_filter& filter,
                                   detail::pair_engine& engine, detail::missing_values& missing,
                                   bool of_one_side) {
  if (missing.kendall == nullptr) {
    const detail::present_values& present = missing.present;
    missing.tests = std::make_unique<detail::observation_tests>(
        what.info.test, present.fewest_shared(), present.most_shared(), filter.side);
  }
  adjusted_level level{filter.max_p};
  if (filter.adjust != adjustment::none) {
    std::optional<detail::shared_kendall_cut> within;
    const missing_tests tests = tests_of(missing, filter.max_p, filter.side, within);
    missing.tested = count_tested(engine, tests);
    level = adjust(filter, 0, *missing.tested, [&](const discovery_search& search) {
      return engine.bin_statistics(tests.of(pass_of(search)));
    });
  }
  effective_cut cut = cut_missing(what, level.max_p, filter, missing, of_one_side);
  cut.discoveries = level.discoveries;
  return cut;
}

effective_cut cut_tied(double max_p, const pair_filter& filter, detail::tied_rows& rows,
                       bool of_one_side) {
  const auto cut_of = [&](double critical) {
    return sided_cut(critical, max_p, filter, of_one_side);
  };
  if (const auto* const test = std::get_if<stats::spearman_test>(&rows.test())) {
    const auto keep_of = [&](int of_class) {
      return cut_of(test->weakest(max_p, of_class, filter.side));
    };
    const effective_cut untied = keep_of(0);
    rows.set_cut(filter.side, nullptr,
                 {.ranks = {.permutations = untied.keep,
                            .student_t = keep_of(1).keep,
                            .last_class = test->last_class(max_p, filter.side)}});
    return untied;
  }
  const auto& test = std::get<stats::kendall_test>(rows.test());
  auto cut_of_p = std::make_unique<stats::kendall_cut>(test, max_p, filter.side);
  const double untied = cut_of_p->weakest_untied();
  // Whatever the statistic, as far as p is concerned.
  const double any =
      stats::critical_value(significance::none, 1.0, test.observations(), filter.side);
  const stats::kendall_cut* const p = cut_of_p.get();
  rows.set_cut(filter.side, std::move(cut_of_p), {.p = p, .keep = cut_of(any).keep});
  return cut_of(untied);
}

bin_counts tied_pass(const discovery_search& search, detail::pair_engine& engine,
                     const detail::tied_rows& rows) {
  bin_request request = pass_of(search);
  if (const auto* const test = std::get_if<stats::spearman_test>(&rows.test())) {
    const stats::spearman_cut within(*test, search.max_p, search.side);
    request.tied.ranks = &within;
    return engine.bin_statistics(request);
  }
  const stats::kendall_cut within(std::get<stats::kendall_test>(rows.test()), search.max_p,
                                  search.side);
  request.tied.kendall = &within;
  return engine.bin_statistics(request);
}

effective_cut resolve_tied_cut(const pair_filter& filter, detail::pair_engine& engine,
                               std::uint64_t family, detail::tied_rows& rows, bool of_one_side) {
  const adjusted_level level = adjust(filter, 0, family, [&](const discovery_search& search) {
    return tied_pass(search, engine, rows);
  });
  effective_cut cut = cut_tied(level.max_p, filter, rows, of_one_side);
  cut.discoveries = level.discoveries;
  return cut;
}

}  // namespace gpu::inline v0::detail
