#pragma once
// The parts of a job are the whole job: cases for any measure, of one table and of x against y.

#include <algorithm>
#include <cstdint>
#include <functional>
#include <limits>
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
  const auto whole_f32 = run(whole_options, gpu::dense_sink_f32{});
  const gpu::top_k_sink nearest{.k = 6};
  const auto table = run(whole_options, nearest);
  gpu::index_t row = 0;
  gpu::index_t wrong = 0;
  gpu::pair_checksum checksum;
  for (gpu::index_t index = 0; index < of; ++index) {
    gpu::pair_options options = whole_options;
    options.part = {.index = index, .of = of};
    const auto dense = run(options, gpu::dense_sink{});
    const auto dense_f32 = run(options, gpu::dense_sink_f32{});
    const auto near = run(options, nearest);
    REQUIRE(dense_f32.rows() == dense.rows());
    REQUIRE(dense.cols() == whole.cols());
    REQUIRE(dense.rows() == near.index.rows());
    CHECK(dense.summary.part_begin == row);
    checksum += near.summary.checksum;
    for (gpu::index_t i = 0; i < dense.rows(); ++i, ++row) {
      for (gpu::index_t j = 0; j < whole.cols(); ++j) {
        wrong += !same_or_nan(dense(i, j), whole(row, j));
        wrong += !same_or_nan(dense_f32(i, j), whole_f32(row, j));
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

/// Rows without a statistic in some parts alone: the rows of one part are then all that there are.
template <class Measure>
void parts_may_hold_all_valid_rows(gpu::pair_options options) {
  constexpr gpu::index_t rows = 90;
  constexpr gpu::index_t cols = 30;
  const auto y = area_rows<std::int16_t>(70, cols, 65);
  options.nans = gpu::nan_policy::propagate;
  struct range {
    gpu::index_t begin;
    gpu::index_t end;
  };
  for (const range valid :
       {range{45, 90}, range{0, 45}, range{60, 90}, range{30, 60}, range{1, 90}, range{0, 89},
        range{89, 90}, range{0, 1}, range{44, 46}, range{50, 50}}) {
    for (const bool by_nan : {false, true}) {
      INFO("rows with a statistic " << valid.begin << " to " << valid.end << ", NaN " << by_nan);
      auto data = tied_matrix<float>(rows, cols, 64, 0.6, 100);
      for (gpu::index_t i = 0; i < rows; ++i) {
        if (i >= valid.begin && i < valid.end) continue;
        if (by_nan) {
          data(i, i % cols) = std::numeric_limits<float>::quiet_NaN();
        } else {
          std::fill_n(data.data() + i * cols, cols, 1.0F);
        }
      }
      const auto table = [&](const gpu::pair_options& part, const auto& sink) {
        return Measure::run(data, part, sink);
      };
      const auto rectangle = [&](const gpu::pair_options& part, const auto& sink) {
        return Measure::against(data, y, part, sink);
      };
      // More parts than rows: what it says of the parts, it says on any backend.
      const bool many = options.exec.target == gpu::backend::cpu && valid.end == 89 && by_nan;
      for (const gpu::index_t of : {1, 3, many ? 100 : 16}) {
        check_parts(table, options, of);
        check_parts(rectangle, options, of);
        check_row_parts(table, options, of);
        check_row_parts(rectangle, options, of);
      }
    }
  }
}

}  // namespace gpu_test
