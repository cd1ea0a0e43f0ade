#include "pairs/differential/difference_sinks.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <iterator>
#include <limits>
#include <numeric>
#include <span>
#include <utility>
#include <vector>

#include <gpu/error.hpp>

#include "base/check_enumerator.hpp"
#include "base/parallel.hpp"
#include "base/round_up.hpp"
#include "pairs/adjustment.hpp"
#include "pairs/checks.hpp"
#include "stats/bins.hpp"
#include "stats/correlation_difference.hpp"

namespace gpu::inline v0::detail {
namespace {

// Rows that a thread takes at a time.
constexpr index_t rows_per_task = 16;

// take(row, col, thread, verdict, first, second) for the pairs of the panel of a walk with all
// later rows that `cut` keeps, of a row by one thread and with ascending columns. begin_rows(rows)
// is called before pairs of these rows are given: of rows ascending, several times for one range.
// Pairs that are surely kept are counted in `degrees`, [rows], instead of being given, where it is
// not null and where that takes less time.
template <class BeginRows, class Take>
void for_each_kept(const difference_walk& walk, const stats::difference_cut& cut,
                   std::vector<std::uint32_t>* degrees, const BeginRows& begin_rows,
                   const Take& take) {
  const auto take_kept = [&](index_t row, index_t col, int thread, double first, double second) {
    const auto verdict = cut.decide(first, second);
    if (verdict.is_kept) take(row, col, thread, verdict, first, second);
  };
  if (difference_engine* const device = walk.on_device()) {
    device->find_later(walk.panel(), cut.screen(), degrees, [&](const screened_pairs& found) {
      begin_rows(found.rows);
      parallel_for_each(
          found.rows.size(), rows_per_task, walk.threads(), [&](index_t i, int thread) {
            const auto row = static_cast<std::size_t>(i);
            for (std::uint64_t at = found.begin[row]; at < found.begin[row + 1]; ++at) {
              take_kept(found.rows.begin + i, index_t{found.cols[at]}, thread, found.first[at],
                        found.second[at]);
            }
          });
    });
    return;
  }
  walk.for_each_block([&](const statistics_block& block) {
    begin_rows(block.rows);
    parallel_for_each(block.rows.size(), rows_per_task, walk.threads(), [&](index_t i, int thread) {
      const double* const first = block.first + i * block.cols.size();
      const double* const second = block.second + i * block.cols.size();
      for (index_t j = block.first_col(block.rows.begin + i); j < block.cols.size(); ++j) {
        if (!cut.may_keep(first[j], second[j])) continue;
        take_kept(block.rows.begin + i, block.cols.begin + j, thread, first[j], second[j]);
      }
    });
  });
}

// A counting pass for the discoveries of the whole job, over the pairs of the part.
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

// What a filter keeps, after its adjustment for all tests of the job. Benjamini and Hochberg's is
// counted over the walk, which covers the whole job then.
struct resolved_cut {
  double max_p;
  stats::difference_cut cut;

  resolved_cut(const difference_walk& walk, const differential_filter& keep)
      : max_p(detail::adjust({.max_p = keep.max_p, .side = keep.side, .adjust = keep.adjust}, 0,
                             walk.family(),
                             [&](const discovery_search& search) { return count_p(walk, search); })
                  .max_p),
        cut(max_p, keep.min_abs_z, keep.side, walk.standard_error()) {}

  [[nodiscard]] differential_summary summary(const difference_walk& walk,
                                             std::uint64_t kept) const {
    differential_summary out = walk.summary();
    out.pairs_kept = kept;
    out.max_p_effective = max_p;
    out.min_abs_z_effective = cut.least_z();
    return out;
  }
};

// The kept pairs of a panel, a list for each row, until there are too many.
class edge_rows {
 public:
  explicit edge_rows(index_t most) : most_(static_cast<std::uint64_t>(most)) {}

  void begin_rows(index_range rows) {
    if (rows == panel_) return;
    end_panel();
    panel_ = rows;
    of_row_.resize(static_cast<std::size_t>(panel_.size()));
  }
  // By one thread a row.
  void add(const differential_edge& e) {
    if (count_.fetch_add(1, std::memory_order_relaxed) >= most_) return;
    of_row_[static_cast<std::size_t>(index_t{e.row} - panel_.begin)].push_back(e);
  }
  void end_panel() {
    for (auto& row : of_row_) {
      if (count_ <= most_) edges_.insert(edges_.end(), row.begin(), row.end());
      row.clear();
    }
  }
  [[nodiscard]] std::uint64_t count() const { return count_; }
  [[nodiscard]] std::vector<differential_edge> take() {
    end_panel();
    return std::move(edges_);
  }

 private:
  std::uint64_t most_;
  std::atomic<std::uint64_t> count_ = 0;
  index_range panel_{0, 0};
  std::vector<std::vector<differential_edge>> of_row_;
  std::vector<differential_edge> edges_;
};

// The best partners of a row among those that were offered, in any order.
class row_partners {
 public:
  struct entry {
    double directed;
    node_id col;
    double first;
    double second;
    double z;
    double p;
  };

  row_partners(index_t k, const stats::difference_cut& cut)
      : k_(static_cast<std::size_t>(k)), cut_(cut) {}

  void offer(index_t col, double first, double second) {
    if (cut_.may_keep(first, second)) offer_candidate(col, first, second);
  }

  // The least ratio of a pair that may still come among them.
  [[nodiscard]] double bar() const { return cut_.screen().bar; }

  // Best first; once.
  const std::vector<entry>& sorted() {
    std::sort_heap(heap_.begin(), heap_.end(), before);
    return heap_;
  }

 private:
  static bool before(const entry& a, const entry& b) {
    return a.directed != b.directed ? a.directed > b.directed : a.col < b.col;
  }

  // Few pairs come here; apart from offer(), so that the loops over all pairs stay short.
  void offer_candidate(index_t col, double first, double second) {
    const auto verdict = cut_.decide(first, second);
    if (!verdict.is_kept) return;
    const entry own{
        cut_.directed(verdict.z), static_cast<node_id>(col), first, second, verdict.z, verdict.p};
    if (heap_.size() == k_) {
      if (!before(own, heap_.front())) return;
      std::pop_heap(heap_.begin(), heap_.end(), before);
      heap_.back() = own;
    } else {
      heap_.push_back(own);
    }
    std::push_heap(heap_.begin(), heap_.end(), before);
    if (heap_.size() == k_) cut_ = cut_.screened_from(heap_.front().directed);
  }

  std::size_t k_;
  stats::difference_cut cut_;
  std::vector<entry> heap_;  // the worst first
};

// The best partners of the rows of a panel.
class panel_partners {
 public:
  panel_partners(index_range panel, index_t k, const stats::difference_cut& cut, int threads)
      : panel_(panel),
        threads_(threads),
        rows_(static_cast<std::size_t>(panel.size()), row_partners(k, cut)) {}

  // Offers every pair of a block to its rows of the panel; a row belongs to one thread at a time.
  void offer(const statistics_block& block) {
    offer_to_cols(block);
    // Rows of a block lie all in the panel or in front of it.
    if (block.rows.begin >= panel_.begin) offer_to_rows(block);
  }
  // The same of pairs that a device found, seen from the rows of the panel alone; writes the bars
  // that follow.
  void offer(const screened_pairs& found, std::span<double> bars) {
    parallel_for_each(found.rows.size(), rows_per_task, threads_, [&](index_t i, int) {
      const auto row = static_cast<std::size_t>(i);
      row_partners& own = of(found.rows.begin + i);
      for (std::uint64_t at = found.begin[row]; at < found.begin[row + 1]; ++at) {
        own.offer(index_t{found.cols[at]}, found.first[at], found.second[at]);
      }
      bars[row] = own.bar();
    });
  }
  [[nodiscard]] row_partners& of(index_t row) {
    return rows_[static_cast<std::size_t>(row - panel_.begin)];
  }

 private:
  void offer_to_cols(const statistics_block& block) {
    const index_t cols = block.cols.size();
    // The columns of a block begin in the panel or behind it.
    const index_t taken = std::min(cols, panel_.end - block.cols.begin);
    if (taken <= 0) return;
    row_partners* const owners = &of(block.cols.begin);
    detail::parallel_for_ranges(taken, rows_per_task, threads_, [&](index_range some, int) {
      for (index_t i = 0; i < block.rows.size(); ++i) {
        const index_t row = block.rows.begin + i;
        const double* const first = block.first + i * cols;
        const double* const second = block.second + i * cols;
        for (index_t j = std::max(some.begin, block.first_col(row)); j < some.end; ++j) {
          owners[j].offer(row, first[j], second[j]);
        }
      }
    });
  }
  void offer_to_rows(const statistics_block& block) {
    const index_t cols = block.cols.size();
    parallel_for_each(block.rows.size(), rows_per_task, threads_, [&](index_t i, int) {
      row_partners& own = of(block.rows.begin + i);
      const double* const first = block.first + i * cols;
      const double* const second = block.second + i * cols;
      for (index_t j = block.first_col(block.rows.begin + i); j < cols; ++j) {
        own.offer(block.cols.begin + j, first[j], second[j]);
      }
    });
  }

  index_range panel_;
  int threads_;
  std::vector<row_partners> rows_;
};

void write_partners(index_range panel, panel_partners& rows, differential_partners& out) {
  constexpr double none = std::numeric_limits<double>::quiet_NaN();
  const index_t k = out.index.cols();
  for (index_t i = 0; i < out.index.rows(); ++i) {
    const auto& found = rows.of(panel.begin + i).sorted();
    out.count[static_cast<std::size_t>(i)] = static_cast<node_id>(found.size());
    for (index_t e = 0; e < k; ++e) {
      const bool is_there = e < std::ssize(found);
      const row_partners::entry own =
          is_there ? found[static_cast<std::size_t>(e)]
                   : row_partners::entry{none, neighbor_table::no_neighbor, none, none, none, none};
      out.index(i, e) = own.col;
      out.first(i, e) = own.first;
      out.second(i, e) = own.second;
      out.z(i, e) = own.z;
      out.p(i, e) = own.p;
    }
  }
}

}  // namespace

void check_sink(const differential_filter& keep) {
  if (!(keep.max_p > 0.0 && keep.max_p <= 1.0)) {
    throw invalid_argument(
        fmt::format("differential_filter.max_p: got {}, expected a value in (0, 1]", keep.max_p));
  }
  if (!(keep.min_abs_z >= 0.0)) {
    throw invalid_argument(
        fmt::format("differential_filter.min_abs_z: got {}, expected at least 0", keep.min_abs_z));
  }
  check_enumerator("differential_filter.side", keep.side, tail::less);
  check_enumerator("differential_filter.adjust", keep.adjust, adjustment::benjamini_hochberg);
}

void check_sink(const differential_edge_sink& sink) {
  check_sink(sink.keep);
  if (sink.max_edges >= 0) return;
  throw invalid_argument(
      fmt::format("differential_edge_sink.max_edges: got {}, expected at least 0", sink.max_edges));
}

void check_sink(const differential_top_k_sink& sink) {
  check_sink(sink.keep);
  if (sink.k >= 1) return;
  throw invalid_argument(
      fmt::format("differential_top_k_sink.k: got {}, expected at least 1", sink.k));
}

differential_edges find_differences(const difference_walk& walk,
                                    const differential_edge_sink& sink) {
  const resolved_cut by(walk, sink.keep);
  edge_rows found(sink.max_edges);
  for_each_kept(
      walk, by.cut, nullptr, [&](index_range rows) { found.begin_rows(rows); },
      [&](index_t i, index_t j, int, const auto& verdict, double first, double second) {
        found.add({.row = static_cast<node_id>(i),
                   .col = static_cast<node_id>(j),
                   .first = first,
                   .second = second,
                   .z = verdict.z,
                   .p = verdict.p});
      });
  if (found.count() > static_cast<std::uint64_t>(sink.max_edges)) {
    validate::throw_over_capacity("differential_edge_sink", "pairs",
                                  static_cast<index_t>(found.count()), sink.max_edges);
  }
  return {.edges = found.take(), .summary = by.summary(walk, found.count())};
}

differential_partners find_partners(const difference_walk& walk,
                                    const differential_top_k_sink& sink) {
  const resolved_cut by(walk, sink.keep);
  const index_t rows = walk.panel().size();
  differential_partners out{.index = matrix<node_id>(rows, sink.k),
                            .first = matrix<double>(rows, sink.k),
                            .second = matrix<double>(rows, sink.k),
                            .z = matrix<double>(rows, sink.k),
                            .p = matrix<double>(rows, sink.k),
                            .count = std::vector<node_id>(static_cast<std::size_t>(rows)),
                            .summary = {}};
  panel_partners best(walk.panel(), sink.k, by.cut, walk.threads());
  if (difference_engine* const device = walk.on_device()) {
    device->find_partners(
        walk.panel(), by.cut.screen(), sink.k,
        [&](const screened_pairs& found, std::span<double> bars) { best.offer(found, bars); });
  } else {
    walk.for_each_block_of_panel([&](const statistics_block& block) { best.offer(block); });
  }
  write_partners(walk.panel(), best, out);
  const std::uint64_t kept = std::accumulate(out.count.begin(), out.count.end(), std::uint64_t{0});
  out.summary = by.summary(walk, kept);
  return out;
}

differential_counts count_differences(const difference_walk& walk,
                                      const differential_filter& keep) {
  const resolved_cut by(walk, keep);
  const auto rows = static_cast<std::size_t>(walk.rows());
  std::vector<std::vector<std::uint32_t>> degree(static_cast<std::size_t>(walk.threads()));
  for (auto& own : degree) own.resize(rows);
  differential_counts out;
  out.degree.resize(rows);
  for_each_kept(
      walk, by.cut, &out.degree, [](index_range) {},
      [&](index_t i, index_t j, int thread, const auto&, double, double) {
        auto& own = degree[static_cast<std::size_t>(thread)];
        ++own[static_cast<std::size_t>(i)];
        ++own[static_cast<std::size_t>(j)];
      });
  for (const auto& own : degree) {
    for (std::size_t i = 0; i < rows; ++i) out.degree[i] += own[i];
  }
  const std::uint64_t ends =
      std::accumulate(out.degree.begin(), out.degree.end(), std::uint64_t{0});
  out.summary = by.summary(walk, ends / 2);
  return out;
}

discovery_search begin_search(const difference_walk& walk, double max_p, tail side) {
  return detail::begin_search({.max_p = max_p, .side = side}, 0, walk.family());
}

discovery_counts count_discoveries(const difference_walk& walk, const discovery_search& search) {
  bin_counts counts = search.is_decided() ? bin_counts{} : count_p(walk, search);
  return {.search = search,
          .below = counts.below,
          .at_or_above = counts.at_or_above,
          .bins = std::move(counts.bins),
          .summary = {}};
}

}  // namespace gpu::inline v0::detail
