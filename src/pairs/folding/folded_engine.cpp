// The sinks of a folded engine but for the edges: dense, counts, bins, top-k.
#include "pairs/folding/folded_engine.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include <gpu/error.hpp>

#include "base/parallel.hpp"
#include "stats/bins.hpp"

namespace gpu::inline v0::detail {
namespace {

constexpr double nan_value = std::numeric_limits<double>::quiet_NaN();
constexpr std::size_t most_waiting_edges = std::size_t{1} << 25;
constexpr std::size_t least_waiting_edges = 1024;
constexpr std::size_t bytes_per_waiting_edge = 48;  // as found, and from each of its two patterns
constexpr index_t patterns_per_task = 1024;

std::size_t waiting_edges_within(std::size_t workspace_bytes) {
  if (workspace_bytes == 0) return most_waiting_edges;
  return std::clamp(workspace_bytes / bytes_per_waiting_edge, least_waiting_edges,
                    most_waiting_edges);
}

// The patterns of the rows of `range`, which no pattern crosses.
index_range patterns_in(const row_patterns& patterns, index_range range) {
  return {patterns.count_before(range.begin), patterns.count_before(range.end)};
}

}  // namespace

folded_pair_engine::folded_pair_engine(std::unique_ptr<pair_engine> inner, folded_rows folded,
                                       const pair_area& area, const execution& exec)
    : inner_(std::move(inner)),
      folded_(std::move(folded)),
      area_(area),
      pattern_rows_(patterns_in(patterns(), area_.rows)),
      pattern_cols_(patterns_in(patterns(), area_.cols)),
      threads_(detail::thread_count(exec.cpu_threads)),
      most_waiting_(waiting_edges_within(exec.workspace_bytes)),
      weights_(static_cast<std::size_t>(patterns().size())) {
  for (std::size_t p = 0; p < weights_.size(); ++p) {
    weights_[p] = static_cast<std::uint32_t>(patterns().begin[p + 1] - patterns().begin[p]);
    pairs_within_ += pairs_within(static_cast<node_id>(p));
  }
}

// ---- dense ------------------------------------------------------------------------------------

// The matrix of the patterns is written to the upper left of the result and spread from there in
// place. Row i is written from row p(i) <= i, its pattern, for i from the last to the first. The
// rows from `first` on have patterns before `first`, which are still unchanged then. The same holds
// for the columns of a row. Rows, columns and patterns are numbered from the first of the area
// here.
template <class Value>
void folded_pair_engine::spread_dense(matrix_view<Value> out) {
  if (!pattern_rows_.empty() && !pattern_cols_.empty()) {
    inner_->dense(matrix_view<Value>(out.data(), pattern_rows_.size(), pattern_cols_.size(),
                                     out.row_stride()));
  }
  const auto pattern_of = [&](index_t row) {
    return patterns().pattern_of[static_cast<std::size_t>(row)];
  };
  const auto spread = [&](index_t i) {
    Value* to = out.row(i);
    const node_id own = pattern_of(area_.rows.begin + i);
    const Value* from =
        own == row_patterns::no_pattern ? nullptr : out.row(own - pattern_rows_.begin);
    for (index_t j = out.cols(); j-- > 0;) {
      const node_id other = pattern_of(area_.cols.begin + j);
      to[j] = from == nullptr || other == row_patterns::no_pattern
                  ? static_cast<Value>(nan_value)
                  : from[other - pattern_cols_.begin];
    }
  };
  // patterns_before[i]: patterns of the rows before i, which have the lowest numbers.
  std::vector<index_t> patterns_before(static_cast<std::size_t>(out.rows()) + 1);
  for (index_t i = 0; i < out.rows(); ++i) {
    const node_id own = pattern_of(area_.rows.begin + i);
    const index_t before = patterns_before[static_cast<std::size_t>(i)];
    const bool is_first = own != row_patterns::no_pattern && own - pattern_rows_.begin == before;
    patterns_before[static_cast<std::size_t>(i) + 1] = before + (is_first ? 1 : 0);
  }
  index_t last = out.rows();
  while (last > 0) {
    const index_t first = patterns_before[static_cast<std::size_t>(last)];
    if (first == last) break;  // from here on each row is its own pattern's
    parallel_for(last - first, threads_, [&](index_t i, int) { spread(first + i); });
    last = first;
  }
  parallel_for(last, threads_, [&](index_t i, int) { spread(i); });
}

void folded_pair_engine::dense(matrix_view<double> out) {
  spread_dense(out);
}

void folded_pair_engine::dense(matrix_view<float> out) {
  spread_dense(out);
}

// ---- counts -----------------------------------------------------------------------------------

void folded_pair_engine::counts(const count_request& request, pair_counts& out) {
  pair_counts found;
  found.histogram.resize(out.histogram.size());
  count_request weighted = request;
  weighted.weights = weights_;
  inner_->counts(weighted, found);
  const bool within = request.keep.keeps(1.0);
  out.kept = found.kept + (within ? pairs_within_ : 0);
  out.histogram = std::move(found.histogram);
  if (within && !out.histogram.empty()) out.histogram.back() += pairs_within_;
  out.degree.resize(static_cast<std::size_t>(rows().rows));
  parallel_for_each(std::ssize(out.degree), patterns_per_task, threads_, [&](index_t i, int) {
    const node_id p = patterns().pattern_of[static_cast<std::size_t>(i)];
    std::uint32_t& degree = out.degree[static_cast<std::size_t>(i)];
    if (p == row_patterns::no_pattern) {
      degree = 0;
    } else {
      degree = found.degree[p] + (within && has_pairs_within(p) ? weights_[p] - 1 : 0);
    }
  });
}

bin_counts folded_pair_engine::bin_statistics(const bin_request& request) {
  bin_request weighted = request;
  weighted.weights = weights_;
  bin_counts out = inner_->bin_statistics(weighted);
  const double x = key_of(1.0, request.key);
  const index_t place = bin_place(x, request.low, request.high, request.scale, request.bins);
  if (place == 0) {
    out.below += pairs_within_;
  } else if (place > request.bins) {
    out.at_or_above += pairs_within_;
  } else {
    out.bins[static_cast<std::size_t>(place - 1)] += pairs_within_;
  }
  return out;
}

// ---- top-k ------------------------------------------------------------------------------------

namespace {

struct neighbor {
  double statistic;
  node_id row;
};

}  // namespace

// The k best patterns of a pattern, by rank and then by first member, hold the k best rows for each
// of its rows. Let row j be among those, of pattern q, and assume that k patterns come before q.
// Each of them has a higher rank than q, or the same rank and a first member before q's, which is
// at or before j. So k first members come before j: a contradiction. Patterns are numbered by their
// first members, so that "ties to the lowest row" is "ties to the lowest pattern".
//
// The other rows of the pattern itself are neighbours with statistic 1. One list of k + 1 entries,
// with all rows of the pattern among the candidates, serves each of them: without the row itself,
// its first k entries are that row's neighbours.
void folded_pair_engine::top_k(const top_k_request& request, neighbor_table& out) {
  std::fill_n(out.index.data(), out.index.rows() * out.index.cols(), neighbor_table::no_neighbor);
  std::fill_n(out.statistic.data(), out.statistic.rows() * out.statistic.cols(), nan_value);
  std::fill(out.count.begin(), out.count.end(), node_id{0});
  const index_t count = pattern_rows_.size();
  if (count == 0 || pattern_cols_.empty()) return;
  const index_t k = std::min(request.k, pattern_cols_.size());
  neighbor_table found{.index = matrix<node_id>(count, k),
                       .statistic = matrix<double>(count, k),
                       .count = std::vector<node_id>(static_cast<std::size_t>(count)),
                       .summary = {}};
  top_k_request inner_request = request;
  inner_request.k = k;
  inner_request.take_final_rows = {};  // its rows are patterns
  inner_->top_k(inner_request, found);

  const bool within = request.keep.keeps(1.0) && !area_.is_against();
  const bool by_magnitude = request.order == neighbor_order::by_absolute_value;
  const auto rank_of = [&](double r) { return by_magnitude ? std::abs(r) : r; };
  const auto spread = [&](index_t p, std::vector<neighbor>& list) {
    const auto own = patterns().members_of(static_cast<node_id>(pattern_rows_.begin + p));
    const auto most = static_cast<std::size_t>(request.k) + 1;
    const index_t entries = found.count[static_cast<std::size_t>(p)];
    list.clear();
    const auto add = [&](std::span<const node_id> members, double statistic) {
      for (const node_id row : members.first(std::min(most, members.size()))) {
        list.push_back({statistic, row});
      }
    };
    bool own_is_left = within && own.size() > 1;
    for (index_t e = 0; (e < entries || own_is_left) && list.size() < most;) {
      const double best = e < entries ? rank_of(found.statistic(p, e)) : -2.0;
      const double rank = own_is_left ? std::max(best, 1.0) : best;
      const auto of_rank = static_cast<std::ptrdiff_t>(list.size());
      if (own_is_left && rank == 1.0) {
        add(own, 1.0);
        own_is_left = false;
      }
      for (; e < entries && rank_of(found.statistic(p, e)) == rank; ++e) {
        add(patterns().members_of(pattern_of_col(found.index(p, e))), found.statistic(p, e));
      }
      std::sort(list.begin() + of_rank, list.end(),
                [](const neighbor& a, const neighbor& b) { return a.row < b.row; });
    }
    for (const node_id row : own) {
      const index_t to = row - area_.rows.begin;
      index_t at = 0;
      for (std::size_t e = 0; e < std::min(most, list.size()) && at < request.k; ++e) {
        if (list[e].row == row) continue;
        out.index(to, at) = col_of(list[e].row);
        out.statistic(to, at) = list[e].statistic;
        ++at;
      }
      out.count[static_cast<std::size_t>(to)] = static_cast<node_id>(at);
    }
  };
  detail::parallel_for_ranges(count, patterns_per_task, threads_, [&](index_range some, int) {
    std::vector<neighbor> list;
    for (index_t p = some.begin; p < some.end; ++p) spread(p, list);
  });
}

void folded_pair_engine::connectivity(const connectivity_request&, matrix_view<double>) {
  throw unsupported("connectivity_sink: rows are not folded for it");
}

}  // namespace gpu::inline v0::detail
