#pragma once
// x against y compared with the pairs of one table, for every sink: a table cut in two gives a
// block of the matrix of all pairs, and a table against itself gives every pair in both orders.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <span>
#include <utility>
#include <vector>

#include <gpu/pair_sinks.hpp>

#include "support/area_tables.hpp"
#include "support/catch.hpp"
#include "support/pair_target.hpp"

namespace gpu_test {

/// Checks the counts of a block of `rows` by `cols` against its edges.
inline void check_block_counts(const gpu::pair_counts& got, std::span<const gpu::edge> edges,
                               gpu::index_t rows, gpu::index_t cols) {
  const std::size_t bins = got.histogram.size();
  std::vector<std::uint32_t> degree(static_cast<std::size_t>(rows));
  std::vector<std::uint32_t> y_degree(static_cast<std::size_t>(cols));
  std::vector<std::uint64_t> histogram(bins);
  for (const gpu::edge& e : edges) {
    ++degree[e.row];
    ++y_degree[e.col];
    const auto bin = static_cast<std::size_t>((e.statistic + 1) * static_cast<double>(bins) / 2);
    ++histogram[std::min(bin, bins - 1)];
  }
  CHECK(got.kept == edges.size());
  CHECK(got.degree == degree);
  CHECK(got.y_degree == y_degree);
  CHECK(got.histogram == histogram);
}

/// Checks that the lists hold the largest magnitudes of each row of `block`, equal ones by column.
inline void check_block_partners(const gpu::neighbor_table& got, const gpu::matrix<double>& block) {
  gpu::index_t wrong = 0;
  for (gpu::index_t i = 0; i < block.rows(); ++i) {
    std::vector<std::pair<double, gpu::index_t>> best;
    for (gpu::index_t j = 0; j < block.cols(); ++j) {
      if (!std::isnan(block(i, j))) best.emplace_back(-std::abs(block(i, j)), j);
    }
    std::sort(best.begin(), best.end());
    const auto listed = std::min(static_cast<std::size_t>(got.index.cols()), best.size());
    wrong += got.count[static_cast<std::size_t>(i)] != listed;
    for (std::size_t at = 0; at < listed; ++at) {
      const auto place = static_cast<gpu::index_t>(at);
      const gpu::index_t j = best[at].second;
      wrong += static_cast<gpu::index_t>(got.index(i, place)) != j ||
               got.statistic(i, place) != block(i, j);
    }
  }
  CHECK(wrong == 0);
}

/// The statistics of `edges`, NaN elsewhere. A dense result may have float32-level error, edges do
/// not.
inline gpu::matrix<double> statistics_of(std::span<const gpu::edge> edges, gpu::index_t rows,
                                         gpu::index_t cols) {
  gpu::matrix<double> out(rows, cols);
  std::fill_n(out.data(), rows * cols, std::numeric_limits<double>::quiet_NaN());
  for (const gpu::edge& e : edges) out(e.row, e.col) = e.statistic;
  return out;
}

/// Whether a dense result holds `wanted`: its bits on the CPU, up to its own error on a device.
template <class Measure>
bool is_dense_of(double got, double wanted, const gpu::pair_options& options) {
  if (std::isnan(wanted)) return std::isnan(got);
  return options.exec.target == gpu::backend::cpu ? got == wanted
                                                  : Measure::same_dense(got, wanted);
}

/// Checks every sink of x against y: `block` has the statistics of all pairs, `edges` the pairs
/// that `keep` keeps.
template <class Measure, class X, class Y>
void check_block_sinks(const X& x, const Y& y, const gpu::pair_options& options,
                       const gpu::matrix<double>& block, std::span<const gpu::edge> edges,
                       const gpu::pair_filter& keep) {
  const auto dense = Measure::against(x, y, options, gpu::dense_sink{});
  gpu::index_t wrong = 0;
  for (gpu::index_t i = 0; i < block.rows(); ++i) {
    for (gpu::index_t j = 0; j < block.cols(); ++j) {
      wrong += !is_dense_of<Measure>(dense(i, j), block(i, j), options);
    }
  }
  CHECK(wrong == 0);
  const bool same_edges = std::ranges::equal(
      Measure::against(x, y, options, gpu::edge_sink{.keep = keep}).edges, edges);
  CHECK(same_edges);
  std::vector<gpu::edge> streamed;
  static_cast<void>(Measure::against(
      x, y, options, gpu::stream_sink{.keep = keep, .consume = [&](std::span<const gpu::edge> e) {
                                        streamed.insert(streamed.end(), e.begin(), e.end());
                                      }}));
  const bool same_stream = std::ranges::equal(streamed, edges);
  CHECK(same_stream);
  check_block_counts(
      Measure::against(x, y, options, gpu::count_sink{.keep = keep, .histogram_bins = 16}), edges,
      block.rows(), block.cols());
  for (const gpu::index_t k : {1, 5}) {
    check_block_partners(Measure::against(x, y, options, gpu::top_k_sink{.k = k}), block);
  }
}

/// The two halves of a table give the block of the whole matrix, bit for bit.
template <class Measure>
void a_split_gives_the_block_of_the_whole(const pair_target& target) {
  GPU_TEST_INFO(target);
  const gpu::index_t rows = 400;
  const gpu::index_t cols = 30;
  const auto data = area_rows<std::int32_t>(rows, cols, 21);
  const gpu::pair_filter keep{.max_p = 0.1};
  const gpu::edge_sink every{.keep = {.max_p = 1.0}};
  const auto whole = statistics_of(Measure::run(data, target.options(), every).edges, rows, rows);
  const auto all = Measure::run(data, target.options(), gpu::edge_sink{.keep = keep});
  for (const gpu::index_t split : {gpu::index_t{1}, gpu::index_t{100}, gpu::index_t{399}}) {
    INFO("split at " << split);
    gpu::matrix<double> block(split, rows - split);
    for (gpu::index_t i = 0; i < split; ++i) {
      for (gpu::index_t j = split; j < rows; ++j) block(i, j - split) = whole(i, j);
    }
    std::vector<gpu::edge> edges;
    for (gpu::edge e : all.edges) {
      if (e.row >= split || e.col < split) continue;
      e.col -= static_cast<gpu::node_id>(split);
      edges.push_back(e);
    }
    const gpu::matrix_view<const std::int32_t> x(data.data(), split, cols);
    const gpu::matrix_view<const std::int32_t> y(data.row(split).data(), rows - split, cols);
    check_block_sinks<Measure>(x, y, target.options(), block, edges, keep);
  }
}

/// A table against itself gives the pairs of the table in both orders, and the diagonal.
template <class Measure>
void a_table_against_itself_is_symmetric(const pair_target& target) {
  GPU_TEST_INFO(target);
  const gpu::index_t rows = 150;
  const auto x = area_rows<float>(rows, 30, 22);
  const gpu::pair_filter keep{.max_p = 0.01};
  const auto dense = Measure::run(x, target.options(), gpu::dense_sink{});
  const gpu::edge_sink every{.keep = {.max_p = 1.0}};
  auto block = statistics_of(Measure::run(x, target.options(), every).edges, rows, rows);
  for (gpu::index_t i = 0; i < rows; ++i) {
    for (gpu::index_t j = 0; j < i; ++j) block(i, j) = block(j, i);
  }
  const auto once = Measure::run(x, target.options(), gpu::edge_sink{.keep = keep});
  // The statistic of a row with itself is computed as any other, so it is 1 up to rounding.
  const auto twice =
      statistics_of(Measure::against(x, x, target.options(), every).edges, rows, rows);
  std::vector<gpu::edge> edges;
  for (gpu::index_t i = 0; i < rows; ++i) {
    const double self = twice(i, i);
    CHECK(std::isnan(self) == std::isnan(dense(i, i)));
    if (std::isnan(self)) continue;
    CHECK(std::abs(self - 1) < 1e-6);
    block(i, i) = self;
    const auto place = static_cast<gpu::node_id>(i);
    edges.push_back({.row = place, .col = place, .statistic = self, .p = 0});
  }
  const std::uint64_t valid = edges.size();
  for (gpu::edge e : once.edges) {
    edges.push_back(e);
    std::swap(e.row, e.col);
    edges.push_back(e);
  }
  std::sort(edges.begin(), edges.end(), [](const gpu::edge& a, const gpu::edge& b) {
    return std::pair(a.row, a.col) < std::pair(b.row, b.col);
  });
  // p on the diagonal follows from that statistic, and is not exactly 0.
  const auto got = Measure::against(x, x, target.options(), gpu::edge_sink{.keep = keep});
  for (std::size_t i = 0; i < std::min(edges.size(), got.edges.size()); ++i) {
    if (edges[i].row == edges[i].col) edges[i].p = got.edges[i].p;
  }
  check_block_sinks<Measure>(x, x, target.options(), block, edges, keep);
  const auto counts = Measure::run(x, target.options(), gpu::count_sink{.keep = keep});
  const auto both = Measure::against(x, x, target.options(), gpu::count_sink{.keep = keep});
  CHECK(both.kept == 2 * counts.kept + valid);
  CHECK(both.tested == valid * valid);
  CHECK(both.degree == both.y_degree);
}

}  // namespace gpu_test
