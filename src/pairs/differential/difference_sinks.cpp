#include "pairs/differential/difference_sinks.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <utility>
#include <vector>

#include <gpu/error.hpp>

#include "base/check_enumerator.hpp"
#include "base/parallel.hpp"
#include "pairs/adjustment.hpp"
#include "pairs/checks.hpp"
#include "stats/bins.hpp"
#include "stats/correlation_difference.hpp"

namespace gpu::inline v0::detail {
namespace {

constexpr index_t rows_per_task = 16;

// take(row, col, thread, verdict, first, second) for the pairs of a block that `cut` keeps, of a
// row by one thread and with ascending columns.
template <class Take>
void for_each_kept(const statistics_block& block, const stats::difference_cut& cut, int threads,
                   const Take& take) {
  const index_t tasks = (block.rows.size() + rows_per_task - 1) / rows_per_task;
  cpu::parallel_for(tasks, threads, [&](index_t task, int thread) {
    const index_t end = std::min(block.rows.size(), (task + 1) * rows_per_task);
    for (index_t i = task * rows_per_task; i < end; ++i) {
      const double* const first = block.first + i * block.cols.size();
      const double* const second = block.second + i * block.cols.size();
      for (index_t j = block.first_col(block.rows.begin + i); j < block.cols.size(); ++j) {
        if (!cut.may_keep(first[j], second[j])) continue;
        const auto verdict = cut.decide(first[j], second[j]);
        if (!verdict.is_kept) continue;
        take(block.rows.begin + i, block.cols.begin + j, thread, verdict, first[j], second[j]);
      }
    }
  });
}

// The counting pass of a search over p.
bin_counts count_p(const difference_walk& walk, const discovery_search& search) {
  const bin_request request = stats::pass_of(search);
  const stats::difference_cut within(search.max_p, 0, search.side, walk.standard_error());
  const auto places = static_cast<std::size_t>(request.bins) + 2;
  std::vector<std::vector<std::uint64_t>> counts(static_cast<std::size_t>(walk.threads()));
  for (auto& own : counts) own.resize(places);
  walk.for_each_block([&](const statistics_block& block) {
    for_each_kept(block, within, walk.threads(),
                  [&](index_t, index_t, int thread, const auto& verdict, double, double) {
                    const index_t place = bin_place(-verdict.p, request.low, request.high,
                                                    request.scale, request.bins);
                    ++counts[static_cast<std::size_t>(thread)][static_cast<std::size_t>(place)];
                  });
  });
  bin_counts out{.bins = std::vector<std::uint64_t>(static_cast<std::size_t>(request.bins))};
  for (const auto& own : counts) {
    out.below += own.front();
    out.at_or_above += own.back();
    for (std::size_t b = 0; b < out.bins.size(); ++b) out.bins[b] += own[b + 1];
  }
  return out;
}

// max_p after the adjustment.
double adjusted(const difference_walk& walk, const differential_filter& keep) {
  const std::uint64_t family = walk.family();
  if (keep.adjust == adjustment::none || family == 0) return keep.max_p;
  if (keep.adjust == adjustment::bonferroni) return keep.max_p / static_cast<double>(family);
  discovery_search search =
      stats::begin_search({.max_p = keep.max_p, .side = keep.side}, 0, family);
  while (!search.is_decided()) search = stats::after_pass(search, count_p(walk, search));
  return stats::adjusted_max_p(search);
}

differential_summary summary_of(const difference_walk& walk, double max_p,
                                const stats::difference_cut& cut, std::uint64_t kept) {
  differential_summary out = walk.summary();
  out.pairs_kept = kept;
  out.max_p_effective = max_p;
  out.min_abs_z_effective = cut.least_z();
  return out;
}

// The kept pairs of a panel, a list for each row, until there are too many.
class edge_rows {
 public:
  explicit edge_rows(index_t most) : most_(static_cast<std::uint64_t>(most)) {}

  void begin_block(const statistics_block& block) {
    if (block.rows == panel_) return;
    end_panel();
    panel_ = block.rows;
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

differential_edges find_differences(const difference_walk& walk,
                                    const differential_edge_sink& sink) {
  const double max_p = adjusted(walk, sink.keep);
  const stats::difference_cut cut(max_p, sink.keep.min_abs_z, sink.keep.side,
                                  walk.standard_error());
  edge_rows found(sink.max_edges);
  walk.for_each_block([&](const statistics_block& block) {
    found.begin_block(block);
    for_each_kept(block, cut, walk.threads(),
                  [&](index_t i, index_t j, int, const auto& verdict, double first, double second) {
                    found.add({.row = static_cast<node_id>(i),
                               .col = static_cast<node_id>(j),
                               .first = first,
                               .second = second,
                               .z = verdict.z,
                               .p = verdict.p});
                  });
  });
  if (found.count() > static_cast<std::uint64_t>(sink.max_edges)) {
    validate::throw_over_capacity("differential_edge_sink", "pairs",
                                  static_cast<index_t>(found.count()), sink.max_edges);
  }
  differential_edges out{.edges = found.take(), .summary = {}};
  out.summary = summary_of(walk, max_p, cut, found.count());
  return out;
}

differential_counts count_differences(const difference_walk& walk,
                                      const differential_filter& keep) {
  const double max_p = adjusted(walk, keep);
  const stats::difference_cut cut(max_p, keep.min_abs_z, keep.side, walk.standard_error());
  const auto rows = static_cast<std::size_t>(walk.rows());
  std::vector<std::vector<std::uint32_t>> degree(static_cast<std::size_t>(walk.threads()));
  for (auto& own : degree) own.resize(rows);
  walk.for_each_block([&](const statistics_block& block) {
    for_each_kept(block, cut, walk.threads(),
                  [&](index_t i, index_t j, int thread, const auto&, double, double) {
                    auto& own = degree[static_cast<std::size_t>(thread)];
                    ++own[static_cast<std::size_t>(i)];
                    ++own[static_cast<std::size_t>(j)];
                  });
  });
  differential_counts out;
  out.degree.resize(rows);
  std::uint64_t ends = 0;
  for (const auto& own : degree) {
    for (std::size_t i = 0; i < rows; ++i) {
      out.degree[i] += own[i];
      ends += own[i];
    }
  }
  out.summary = summary_of(walk, max_p, cut, ends / 2);
  return out;
}

}  // namespace gpu::inline v0::detail
