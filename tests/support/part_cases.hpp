#pragma once
// The parts of a job are the whole job: cases for any measure, of one table and of x against y.

#include <algorithm>
#include <cstdint>
#include <functional>
#include <vector>

#include <gpu/pair_sinks.hpp>

#include "support/area_tables.hpp"
#include "support/catch.hpp"

namespace gpu_test {

/// The parts of a job, one after the other, and what they add up to.
template <class Run>
void check_parts(const Run& run, const gpu::pair_options& whole_options, gpu::index_t of) {
  INFO("parts " << of);
  for (const gpu::pair_filter& keep : std::vector<gpu::pair_filter>{
           {.max_p = 0.03}, {.max_p = 0.5, .adjust = gpu::adjustment::bonferroni}}) {
    const auto whole = run(whole_options, gpu::edge_sink{.keep = keep});
    const gpu::count_sink counting{.keep = keep, .histogram_bins = 20};
    const auto whole_counts = run(whole_options, counting);
    std::vector<gpu::edge> edges;
    gpu::pair_checksum checksum;
    std::uint64_t tested = 0;
    std::vector<std::uint32_t> degree(whole_counts.degree.size());
    std::vector<std::uint32_t> y_degree(whole_counts.y_degree.size());
    std::vector<std::uint64_t> bins(20);
    const auto add = [](auto& sums, const auto& terms) {
      REQUIRE(sums.size() == terms.size());
      std::transform(sums.begin(), sums.end(), terms.begin(), sums.begin(), std::plus<>());
    };
    gpu::index_t next = 0;
    for (gpu::index_t index = 0; index < of; ++index) {
      gpu::pair_options options = whole_options;
      options.part = {.index = index, .of = of};
      const auto part = run(options, gpu::edge_sink{.keep = keep});
      edges.insert(edges.end(), part.edges.begin(), part.edges.end());
      checksum += part.summary.checksum;
      tested += part.summary.pairs_tested;
      CHECK(part.summary.max_p_effective == whole.summary.max_p_effective);
      CHECK(part.summary.constant_rows == whole.summary.constant_rows);
      CHECK(part.summary.part_begin == next);
      next = part.summary.part_end;
      const auto counts = run(options, counting);
      CHECK(counts.kept == part.edges.size());
      CHECK(counts.tested == part.summary.pairs_tested);
      add(degree, counts.degree);
      add(y_degree, counts.y_degree);
      add(bins, counts.histogram);
    }
    CHECK(next == whole.summary.rows);
    const bool same_edges = whole.edges == edges;
    CHECK(same_edges);
    CHECK(checksum == whole.summary.checksum);
    CHECK(tested == whole.summary.pairs_tested);
    CHECK(degree == whole_counts.degree);
    CHECK(y_degree == whole_counts.y_degree);
    CHECK(bins == whole_counts.histogram);
  }
}

/// Dense and top-k parts are panels of rows.
template <class Run>
void check_row_parts(const Run& run, const gpu::pair_options& whole_options, gpu::index_t of) {
  INFO("parts " << of);
  const auto whole = run(whole_options, gpu::dense_sink{});
  const gpu::top_k_sink nearest{.k = 6};
  const auto table = run(whole_options, nearest);
  gpu::index_t row = 0;
  gpu::index_t wrong = 0;
  gpu::pair_checksum checksum;
  for (gpu::index_t index = 0; index < of; ++index) {
    gpu::pair_options options = whole_options;
    options.part = {.index = index, .of = of};
    const auto dense = run(options, gpu::dense_sink{});
    const auto near = run(options, nearest);
    REQUIRE(dense.cols() == whole.cols());
    REQUIRE(dense.rows() == near.index.rows());
    CHECK(dense.summary.part_begin == row);
    checksum += near.summary.checksum;
    for (gpu::index_t i = 0; i < dense.rows(); ++i, ++row) {
      for (gpu::index_t j = 0; j < whole.cols(); ++j) {
        wrong += !same_or_nan(dense(i, j), whole(row, j));
      }
      wrong +=
          near.count[static_cast<std::size_t>(i)] != table.count[static_cast<std::size_t>(row)];
      for (gpu::index_t e = 0; e < 6; ++e) {
        wrong += near.index(i, e) != table.index(row, e);
        wrong += !same_or_nan(near.statistic(i, e), table.statistic(row, e));
      }
    }
  }
  CHECK(row == whole.rows());
  CHECK(wrong == 0);
  CHECK(checksum == table.summary.checksum);
}

template <class Measure>
void parts_are_the_whole(const gpu::pair_options& options) {
  const auto data = area_rows<std::int32_t>(350, 30, 61);
  const auto x = area_rows<float>(120, 30, 62);
  const auto y = area_rows<std::uint8_t>(200, 30, 63);
  const auto table = [&](const gpu::pair_options& part, const auto& sink) {
    return Measure::run(data, part, sink);
  };
  const auto rectangle = [&](const gpu::pair_options& part, const auto& sink) {
    return Measure::against(x, y, part, sink);
  };
  for (const gpu::index_t of : {1, 2, 3, 7, 50, 400}) {
    // More parts than rows: what it says of the parts, it says on any backend.
    if (of > 50 && options.exec.target == gpu::backend::cuda) continue;
    check_parts(table, options, of);
    check_parts(rectangle, options, of);
    check_row_parts(table, options, of);
    check_row_parts(rectangle, options, of);
  }
}

}  // namespace gpu_test
