// The sinks of the CPU pair engine that need no order: dense, counts, bins.
#include <algorithm>
#include <atomic>
#include <cmath>
#include <limits>
#include <numeric>

#include "cpu/pairs/engine.hpp"
#include "cpu/pairs/loops/kernels.hpp"
#include "stats/bins.hpp"

namespace gpu::cpu {
namespace {

constexpr double no_value = std::numeric_limits<double>::quiet_NaN();

// Sums of one thread, a cache line apart from those of the next.
struct alignas(64) thread_sum {
  std::uint64_t value = 0;
};

std::uint64_t total(const std::vector<thread_sum>& sums) {
  return std::accumulate(sums.begin(), sums.end(), std::uint64_t{0},
                         [](std::uint64_t sum, const thread_sum& s) { return sum + s.value; });
}

// Histograms, one a thread, made on first use.
class thread_histograms {
 public:
  thread_histograms(int threads, index_t bins)
      : parts_(static_cast<std::size_t>(threads)), bins_(static_cast<std::size_t>(bins)) {}

  std::uint64_t* of(int thread) {
    auto& part = parts_[static_cast<std::size_t>(thread)];
    if (part.size() != bins_) part.assign(bins_, 0);
    return part.data();
  }

  void add_to(std::vector<std::uint64_t>& sums) const {
    for (const auto& part : parts_) {
      for (std::size_t b = 0; b < part.size(); ++b) sums[b] += part[b];
    }
  }

 private:
  std::vector<std::vector<std::uint64_t>> parts_;
  std::size_t bins_;
};

// Degrees by place in the order of counting. Each thread has its own where that takes little
// memory; else threads add to common ones.
class thread_degrees {
 public:
  thread_degrees(int threads, index_t rows)
      : rows_(rows),
        size_(static_cast<std::size_t>(round_up(rows, group_lanes * group_padding) +
                                       group_lanes * group_padding)),
        is_shared_(static_cast<std::size_t>(threads) * size_ > pair_policy::thread_degrees),
        parts_(is_shared_ ? 1 : static_cast<std::size_t>(threads)) {
    if (is_shared_) parts_[0].assign(size_, 0);
  }

  // count(degrees of the tile's rows, degrees of its columns), padded.
  template <class Count>
  void add(const pair_tile& tile, int thread, const Count& count) {
    if (is_shared_) return add_shared(tile, count);
    auto& part = parts_[static_cast<std::size_t>(thread)];
    if (part.empty()) part.assign(size_, 0);
    count(part.data() + tile.row_begin, part.data() + tile.col_begin);
  }

  // take(place, degree) for every place.
  template <class Take>
  void for_each(int threads, const Take& take) const {
    constexpr index_t at_once = 1 << 14;
    detail::parallel_for_each(rows_, at_once, threads, [&](index_t i, int) {
      std::uint32_t sum = 0;
      for (const auto& part : parts_) {
        if (!part.empty()) sum += part[static_cast<std::size_t>(i)];
      }
      take(i, sum);
    });
  }

 private:
  template <class Count>
  void add_shared(const pair_tile& tile, const Count& count) {
    std::uint32_t row_degree[pair_policy::task_rows] = {};
    std::uint32_t col_degree[pair_policy::task_cols] = {};
    if (count(row_degree, col_degree) == 0) return;
    const auto add_to = [&](index_t first, const std::uint32_t* from, index_t places) {
      for (index_t i = 0; i < places; ++i) {
        if (from[i] == 0) continue;
        std::atomic_ref(parts_[0][static_cast<std::size_t>(first + i)])
            .fetch_add(from[i], std::memory_order_relaxed);
      }
    };
    add_to(tile.row_begin, row_degree, tile.rows());
    add_to(tile.col_begin, col_degree, tile.cols());
  }

  index_t rows_;
  std::size_t size_;
  bool is_shared_;
  std::vector<std::vector<std::uint32_t>> parts_;
};

// body(row, col, statistic) for the pairs of a block above the diagonal.
template <class Body>
void for_each_upper_pair(const pair_tile& block, const double* statistics, const Body& body) {
  for (index_t i = block.row_begin; i < block.row_end; ++i) {
    const double* row = statistics + (i - block.row_begin) * pair_policy::block_cols;
    for (index_t j = first_upper_column(block, i); j < block.col_end; ++j) {
      body(i, j, row[j - block.col_begin]);
    }
  }
}

// How often a pair counts.
std::uint64_t pair_weight(std::span<const std::uint32_t> weights, index_t i, index_t j) {
  if (weights.empty()) return 1;
  return std::uint64_t{weights[static_cast<std::size_t>(i)]} * weights[static_cast<std::size_t>(j)];
}

}  // namespace

template <class Value>
void cpu_engine::fill_dense(matrix_view<Value> out) {
  if (area_rows_.size() < out.rows() || area_cols_.size() < out.cols()) {
    detail::parallel_for(out.rows(), threads_, [&](index_t i, int) {
      std::fill_n(out.row(i), out.cols(), static_cast<Value>(no_value));
    });
  }
  // Rows and columns with a statistic may be the same in a part too, whose result has rows of its
  // own.
  if (area_rows_ != area_cols_) return fill_dense_area(out);
  detail::pair_progress meter(on_progress_, "pairs", pairs_of(area_rows_));
  const detail::poll_scope polled(&meter);
  for_each_window([&] {
    pair_search& search = this->search({});
    if (second_.is_empty()) {
      for (index_t i = 0; i < first_.size(); ++i) out(result_row(i), result_col(i)) = Value{1};
    }
    for_each_upper_tile(search, meter, [&](const pair_tile& tile, int thread) {
      const auto store = [&](const pair_tile& block, const double* statistics) {
        for_each_upper_pair(block, statistics, [&](index_t i, index_t j, double r) {
          out(result_row(i), result_col(j)) = static_cast<Value>(r);
        });
        mirror_block(block, statistics, out);
      };
      // Of each block of rows, whole groups of columns from the diagonal on.
      for_each_strip_of_rows(tile, pair_policy::block_rows, [&](pair_tile upper) {
        const index_t group = upper.row_begin / pair_policy::window_step;
        upper.col_begin = std::max(tile.col_begin, group * pair_policy::window_step);
        for_each_block_above(search, upper, search.scratch(thread), store);
      });
    });
  });
  meter.finish();
}

// Every row of the area with every column of it.
template <class Value>
void cpu_engine::fill_dense_area(matrix_view<Value> out) {
  detail::pair_progress meter(on_progress_, "pairs", meetings());
  const detail::poll_scope polled(&meter);
  for_each_meeting([&](const pair_tile& area) {
    pair_search& search = this->search({});
    for_each_strip_of_rows(area, panel_rows(), [&](const pair_tile& panel) {
      for_each_tile(tiles_of(panel, pair_policy::task_cols),
                    [&](const pair_tile& tile, int thread) {
                      for_each_block(search, tile, search.scratch(thread),
                                     [&](const pair_tile& block, const double* statistics) {
                                       store_block(block, statistics, out);
                                     });
                    });
      meter.advance(meetings_of(panel));
    });
  });
  meter.finish();
}

template <class Value>
void cpu_engine::store_block(const pair_tile& block, const double* statistics,
                             matrix_view<Value> out) const {
  for (index_t i = block.row_begin; i < block.row_end; ++i) {
    Value* const row = out.row(result_row(i));
    const double* from = statistics + (i - block.row_begin) * pair_policy::block_cols;
    for (index_t j = block.col_begin; j < block.col_end; ++j) {
      row[result_col(j)] = i == j ? Value{1} : static_cast<Value>(from[j - block.col_begin]);
    }
  }
}

// The other triangle, row by row of the output: neighbours in memory are written together.
template <class Value>
void cpu_engine::mirror_block(const pair_tile& block, const double* statistics,
                              matrix_view<Value> out) const {
  for (index_t j = block.col_begin; j < block.col_end; ++j) {
    Value* row = out.row(result_row(j));
    const index_t end = std::min(block.row_end, j);
    for (index_t i = block.row_begin; i < end; ++i) {
      row[result_col(i)] = static_cast<Value>(
          statistics[(i - block.row_begin) * pair_policy::block_cols + (j - block.col_begin)]);
    }
  }
}

void cpu_engine::dense(matrix_view<double> out) {
  fill_dense(out);
}

void cpu_engine::dense(matrix_view<float> out) {
  fill_dense(out);
}

// By the hits themselves: the kernels that count know no weights. In parts, so that the hits of a
// loose cut stay small.
std::uint64_t cpu_engine::count_weighted(const pair_search& search, const pair_tile& tile,
                                         std::span<const std::uint32_t> all_weights,
                                         pair_scratch& scratch, std::uint32_t* row_degree,
                                         std::uint32_t* col_degree, const pair_bins& bins) const {
  constexpr index_t part_cols = 1024;
  const std::uint32_t* const weights = all_weights.data();
  std::uint64_t kept = 0;
  hit_buffer hits;
  for_each_strip_of_cols(tile, part_cols, [&](const pair_tile& part) {
    hits.clear();
    search.matches(part, scratch, hits);
    for (const pair_hit& hit : hits.hits()) {
      const std::uint32_t row_weight = weights[packed(index_t{hit.row})];
      const std::uint32_t col_weight = weights[packed(index_t{hit.col})];
      row_degree[hit.row - static_cast<std::uint32_t>(tile.row_begin)] += col_weight;
      col_degree[hit.col - static_cast<std::uint32_t>(tile.col_begin)] += row_weight;
      const std::uint64_t weight = std::uint64_t{row_weight} * col_weight;
      kept += weight;
      if (bins.count > 0)
        bins.histogram[detail::histogram_bin(hit.statistic, bins.count)] += weight;
    }
  });
  return kept;
}

void cpu_engine::counts(const detail::count_request& request, pair_counts& out) {
  const bool is_weighted = !request.weights.empty();
  std::vector<thread_sum> kept(static_cast<std::size_t>(threads_));
  thread_histograms histograms(threads_, request.histogram_bins);
  detail::pair_progress meter(on_progress_, "pairs", pairs_of(area_rows_));
  const detail::poll_scope polled(&meter);
  out.degree.assign(static_cast<std::size_t>(rows().rows), 0U);
  for_each_window([&] {
    using output = pair_task::output;
    pair_search& search = this->search({.wanted = is_weighted ? output::matches : output::counts,
                                        .keep = request.keep,
                                        .bins = request.histogram_bins,
                                        .cuts = request.cuts,
                                        .tied = request.tied});
    thread_degrees degrees(threads_, window_size());
    for_each_upper_tile(search, meter, [&](const pair_tile& tile, int thread) {
      pair_bins bins{.count = request.histogram_bins};
      if (bins.count > 0) bins.histogram = histograms.of(thread);
      pair_scratch& memory = search.scratch(thread);
      degrees.add(tile, thread, [&](std::uint32_t* row_degree, std::uint32_t* col_degree) {
        const std::uint64_t found = is_weighted
                                        ? count_weighted(search, tile, request.weights, memory,
                                                         row_degree, col_degree, bins)
                                        : search.count(tile, memory, row_degree, col_degree, bins);
        kept[static_cast<std::size_t>(thread)].value += found;
        return found;
      });
    });
    const std::span<const node_id> order =
        is_weighted ? std::span<const node_id>{} : search.count_order();
    degrees.for_each(threads_, [&](index_t place, std::uint32_t degree) {
      if (degree == 0) return;  // also what stands between two ranges
      const index_t row = order.empty() ? place : index_t{order[static_cast<std::size_t>(place)]};
      out.degree[static_cast<std::size_t>(original(row))] += degree;
    });
  });
  meter.finish();
  out.kept = total(kept);
  if (request.histogram_bins > 0) histograms.add_to(out.histogram);
}

detail::bin_counts cpu_engine::bin_statistics(const detail::bin_request& request) {
  std::vector<thread_sum> below(static_cast<std::size_t>(threads_));
  std::vector<thread_sum> above(static_cast<std::size_t>(threads_));
  thread_histograms histograms(threads_, request.bins);
  const auto bin_tile = [&](pair_search& search, const pair_tile& tile, int thread) {
    std::uint64_t* bins = histograms.of(thread);
    std::uint64_t lower = 0;
    std::uint64_t upper = 0;
    for_each_block_above(
        search, tile, search.scratch(thread),
        [&](const pair_tile& block, const double* statistics) {
          for_each_upper_pair(block, statistics, [&](index_t i, index_t j, double r) {
            const double x = detail::key_of(r, request.key);
            const std::uint64_t weight = pair_weight(request.weights, packed(i), packed(j));
            const index_t place =
                detail::bin_place(x, request.low, request.high, request.scale, request.bins);
            if (place == 0) {
              lower += weight;
            } else if (place > request.bins) {
              upper += weight;
            } else {
              bins[place - 1] += weight;
            }
          });
        });
    below[static_cast<std::size_t>(thread)].value += lower;
    above[static_cast<std::size_t>(thread)].value += upper;
  };
  detail::pair_progress meter(on_progress_, "count", pairs_of(area_rows_));
  const detail::poll_scope polled(&meter);
  for_each_window([&] {
    pair_search& search = this->search({.tests = request.tests, .tied_tests = request.tied});
    for_each_upper_tile(search, meter,
                        [&](const pair_tile& tile, int thread) { bin_tile(search, tile, thread); });
  });
  meter.finish();
  detail::bin_counts out{
      .below = total(below),
      .at_or_above = total(above),
      .bins = std::vector<std::uint64_t>(static_cast<std::size_t>(request.bins))};
  histograms.add_to(out.bins);
  return out;
}

}  // namespace gpu::cpu
