#include "pairs/max_t_search.hpp"

#include <algorithm>
#include <functional>
#include <limits>
#include <numeric>
#include <span>
#include <utility>

#include "stats/bins.hpp"
#include "stats/column_shuffle.hpp"
#include "stats/significance/max_t_p.hpp"

namespace gpu::inline v0::detail {
namespace {

constexpr double unbounded = std::numeric_limits<double>::infinity();
// Pairs by shuffled table that the first cut is meant to leave: all but e^-32 of the tables have
// one, and what is left costs nothing.
constexpr double pairs_per_table = 32;
constexpr double cut_steps = 64;  // times as many pairs, where a table has none

}  // namespace

max_t_search::max_t_search(const task& what, max_t_passes passes)
    : task_(what),
      passes_(std::move(passes)),
      source_(task_.x),
      rows_(source_.rows()),
      most_rows_(source_.rows_in(task_.bytes)),
      maxima_(static_cast<std::size_t>(task_.how.permutations), -unbounded) {}

std::vector<double> max_t_search::run() {
  const index_t step = maxima_per_group();
  std::vector<index_t> groups(static_cast<std::size_t>((task_.how.permutations + step - 1) / step));
  std::iota(groups.begin(), groups.end(), index_t{0});
  if (rows_ > 0 && task_.rows_of_y > 0) {
    const pair_counts counts = count_sample();
    for (double pairs = pairs_per_table; !groups.empty(); pairs *= cut_steps) {
      const double least = cut_for(counts, pairs);
      sweep(groups, least);
      if (!(least > 0)) break;  // every pair was looked at
      std::erase_if(groups, [this](index_t group) { return is_found(group); });
    }
  }
  const double bottom = stats::least_magnitude(task_.how.side);
  for (double& maximum : maxima_) maximum = std::max(maximum, bottom);
  std::sort(maxima_.begin(), maxima_.end(), std::greater<>());
  return std::move(maxima_);
}

bool max_t_search::is_found(index_t group) const {
  const index_t begin = group * maxima_per_group();
  const index_t end = std::min(begin + maxima_per_group(), task_.how.permutations);
  return std::all_of(maxima_.begin() + begin, maxima_.begin() + end,
                     [](double maximum) { return maximum > -unbounded; });
}

std::vector<index_t> max_t_search::columns_of(index_t group) const {
  std::vector<index_t> out(static_cast<std::size_t>(source_.cols()));
  switch (task_.how.shuffle) {
    case column_shuffle::permutation:
      stats::shuffle_columns(task_.how.seed, group, out);
      break;
    case column_shuffle::circular:
      std::iota(out.begin(), out.end(), index_t{0});
      std::rotate(out.begin(), out.begin() + shift_of(group), out.end());
  }
  return out;
}

// Of one table a shift and its inverse are one group.
index_t max_t_search::shift_of(index_t group) const {
  const index_t shifts = source_.cols() - 1;
  const index_t groups = task_.is_against ? shifts : shifts / 2;
  if (group == groups) return group + 1;  // half of the columns, which is its own inverse
  std::vector<index_t> order(static_cast<std::size_t>(groups));
  stats::shuffle_columns(task_.how.seed, 0, order);
  return 1 + order[static_cast<std::size_t>(group)];
}

pair_counts max_t_search::count_sample() {
  constexpr index_t least_rows = 512;
  constexpr index_t share = 8;
  const index_t count = std::min({rows_, most_rows_, std::max(least_rows, rows_ / share)});
  const std::vector<index_t> columns = columns_of(0);
  const index_t stride = rows_ / count;
  const any_table some = source_.make(
      count, [&](index_t r) { return shuffled_row{r * stride, columns}; }, task_.threads);
  return passes_.count(some, {.histogram_bins = most_bins});
}

double max_t_search::cut_for(const pair_counts& counts, double pairs) const {
  const double all = static_cast<double>(rows_) * static_cast<double>(task_.rows_of_y);
  const double sampled = static_cast<double>(counts.tested) / all;
  constexpr double least_counted = 8;
  const double wanted =
      std::max(least_counted, pairs * static_cast<double>(maxima_per_group()) * sampled);
  double reached = 0;
  const std::size_t bins = counts.histogram.size();
  for (std::size_t b = bins; b-- > bins / 2;) {
    if (task_.how.side != tail::less) reached += static_cast<double>(counts.histogram[b]);
    if (task_.how.side != tail::greater) {
      reached += static_cast<double>(counts.histogram[bins - 1 - b]);
    }
    if (reached >= wanted) {
      return std::max(0.0, 2.0 * static_cast<double>(b) / static_cast<double>(bins) - 1.0);
    }
  }
  return 0;
}

void max_t_search::sweep(const std::vector<index_t>& groups, double least) {
  const index_t items = static_cast<index_t>(groups.size()) * rows_;
  for (index_t begin = 0; begin < items; begin += most_rows_) {
    const index_t end = std::min(items, begin + most_rows_);
    pass(groups, {begin, end}, least);
    const index_t found = std::min(task_.how.permutations, end / rows_ * maxima_per_group());
    done_ = std::max(done_, static_cast<std::uint64_t>(found));
  }
}

void max_t_search::pass(const std::vector<index_t>& groups, index_range items, double least) {
  const index_t first = items.begin / rows_;
  std::vector<std::vector<index_t>> permutations;
  for (index_t g = first; g <= (items.end - 1) / rows_; ++g) {
    permutations.push_back(columns_of(groups[static_cast<std::size_t>(g)]));
  }
  const auto row_at = [&](index_t r) {
    const index_t item = items.begin + r;
    const auto group = static_cast<std::size_t>(item / rows_ - first);
    return shuffled_row{item % rows_, permutations[group]};
  };
  const any_table stack = source_.make(items.size(), row_at, task_.threads);
  const auto consume = [&](std::span<const edge> edges) {
    for (const edge& e : edges) {
      const index_t item = items.begin + index_t{e.row};
      take(groups[static_cast<std::size_t>(item / rows_)], item % rows_, index_t{e.col},
           e.statistic);
    }
  };
  device_ = passes_
                .stream(stack, {.keep = {.min_abs = least, .side = task_.how.side},
                                .consume = consume,
                                .order = edge_order::unspecified})
                .device;
}

void max_t_search::take(index_t group, index_t row, index_t col, double statistic) {
  index_t number = group;
  if (!task_.is_against) {
    if (row == col) return;
    number = 2 * group + (row < col ? 1 : 0);
    if (number == task_.how.permutations) return;  // an odd number of them
  }
  double& maximum = maxima_[static_cast<std::size_t>(number)];
  maximum = std::max(maximum, stats::magnitude_of(statistic, task_.how.side));
}

}  // namespace gpu::inline v0::detail
