#include "pairs/max_t_search.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

#include "base/parallel.hpp"
#include "stats/bins.hpp"

namespace gpu::inline v0::detail {
namespace {

// The finishing step of SplitMix64: a permutation of the 64-bit numbers that spreads every bit.
std::uint64_t spread(std::uint64_t x) {
  x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9U;
  x = (x ^ (x >> 27)) * 0x94D049BB133111EBU;
  return x ^ (x >> 31);
}

constexpr std::uint64_t golden_ratio = 0x9E3779B97F4A7C15U;

class counter_stream {
 public:
  counter_stream(std::uint64_t seed, std::uint64_t number)
      : state_(spread(spread(seed + golden_ratio) + number)) {}

  // One of `count` numbers, each as likely: what lies beyond a multiple of `count` is drawn again.
  std::uint64_t below(std::uint64_t count) {
    const std::uint64_t surplus = (0 - count) % count;  // 2^64 modulo count
    for (;;) {
      const std::uint64_t drawn = next();
      if (drawn >= surplus) return drawn % count;
    }
  }

 private:
  std::uint64_t next() { return spread(state_ += golden_ratio); }

  std::uint64_t state_;
};

double p_of(std::size_t as_large, std::size_t permutations) {
  return (1.0 + static_cast<double>(as_large)) / (1.0 + static_cast<double>(permutations));
}

constexpr double unbounded = std::numeric_limits<double>::infinity();
// Pairs by shuffled table that the first cut is meant to leave: all but e^-32 of the tables have
// one, and what is left costs nothing.
constexpr double pairs_per_table = 32;
constexpr double cut_steps = 64;  // times as many pairs, where a table has none

}  // namespace

void shuffle_columns(std::uint64_t seed, index_t number, std::span<index_t> out) {
  std::iota(out.begin(), out.end(), index_t{0});
  counter_stream stream(seed, static_cast<std::uint64_t>(number));
  for (std::size_t k = out.size(); k > 1; --k) {
    std::swap(out[k - 1], out[static_cast<std::size_t>(stream.below(k))]);
  }
}

double magnitude_of(double statistic, tail side) {
  if (side == tail::two_sided) return std::fabs(statistic);
  return side == tail::greater ? statistic : -statistic;
}

double least_magnitude(tail side) {
  return side == tail::two_sided ? 0.0 : -1.0;
}

double least_max_t_p(std::size_t permutations) {
  return p_of(0, permutations);
}

double max_t_p(std::span<const double> maxima, tail side, double statistic) {
  if (std::isnan(statistic)) return statistic;
  const double own = magnitude_of(statistic, side);
  const auto smaller = std::partition_point(maxima.begin(), maxima.end(),
                                            [own](double maximum) { return maximum >= own; });
  return p_of(static_cast<std::size_t>(smaller - maxima.begin()), maxima.size());
}

std::vector<double> max_t_p(std::span<const double> maxima, tail side,
                            std::span<const edge> edges) {
  std::vector<double> out(edges.size());
  std::transform(edges.begin(), edges.end(), out.begin(),
                 [&](const edge& e) { return max_t_p(maxima, side, e.statistic); });
  return out;
}

double max_t_cut(std::span<const double> maxima, tail side, double level) {
  // How many maxima may be as large as a statistic that is kept. p_of rounds in the same way.
  const std::size_t count = maxima.size();
  auto most = static_cast<std::size_t>(level * (1.0 + static_cast<double>(count)));
  while (most > 0 && p_of(most, count) > level) --most;
  if (most >= count) return least_magnitude(side);
  const double reached = maxima[most];
  return reached >= 1.0 ? unbounded : std::nextafter(reached, unbounded);
}

index_t shuffled_rows::rows_in(std::size_t bytes) const {
  return rows_.with_type([&]<class T>(const host_rows& rows, T) {
    const std::size_t row = static_cast<std::size_t>(std::max<index_t>(rows.cols(), 1)) * sizeof(T);
    return std::max<index_t>(1, static_cast<index_t>(bytes / row));
  });
}

any_table shuffled_rows::make(index_t count, const std::function<shuffled_row(index_t)>& row_at,
                              int threads) {
  return rows_.with_type([&]<class T>(const host_rows& rows, T) -> any_table {
    memory_.emplace<matrix<T>>();  // nothing, before as much is taken again
    auto& out = memory_.emplace<matrix<T>>(count, rows.cols());
    constexpr index_t rows_at_once = 64;
    detail::parallel_for_ranges(
        count, rows_at_once, detail::thread_count(threads), [&](index_range some, int) {
          std::vector<T> plain(static_cast<std::size_t>(rows.cols()));
          for (index_t r = some.begin; r < some.end; ++r) {
            const shuffled_row wanted = row_at(r);
            rows.copy_row<T>(wanted.row, plain.data());
            std::transform(wanted.columns.begin(), wanted.columns.end(), out.row(r).begin(),
                           [&](index_t col) { return plain[static_cast<std::size_t>(col)]; });
          }
        });
    return std::as_const(out).view();
  });
}

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
  const double bottom = least_magnitude(task_.how.side);
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
      shuffle_columns(task_.how.seed, group, out);
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
  shuffle_columns(task_.how.seed, 0, order);
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
  maximum = std::max(maximum, magnitude_of(statistic, task_.how.side));
}

}  // namespace gpu::inline v0::detail
