#pragma once
// Cases of all pairs: rows without a statistic, small inputs, refusals.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <vector>

#include <gpu/error.hpp>

#include "support/generators.hpp"
#include "support/pair_target.hpp"

namespace gpu_test {

template <class Measure>
void constant_rows_have_no_statistic(const pair_target& target) {
  GPU_TEST_INFO(target);
  for (const gpu::index_t rows : {gpu::index_t{5}, gpu::index_t{70}}) {
    auto data = random_matrix<double>(rows, 30, 16);
    std::vector<gpu::index_t> constant{0, 3, rows - 1};
    for (const gpu::index_t row : constant) {
      for (gpu::index_t k = 0; k < 30; ++k) data(row, k) = 0.1 * static_cast<double>(row + 1);
    }
    check_dense<Measure>(const_view(data), target);
    const auto got = Measure::run(const_view(data), target.options(), gpu::edge_sink{});
    CHECK(got.summary.constant_rows == constant);
    CHECK(got.summary.nan_rows.empty());
    const auto wanted = reference_pairs(Measure::oracle(const_view(data)));
    check_edges<Measure>(got.edges, wanted, 30, gpu::tail::two_sided);
    const auto valid = static_cast<std::uint64_t>(rows - 3);
    CHECK(got.summary.pairs_tested == valid * (valid - 1) / 2);
  }
  // Nothing but constant rows.
  gpu::matrix<std::int32_t> flat(4, 5);
  std::fill_n(flat.data(), 20, 7);
  const auto none = Measure::run(const_view(flat), target.options(), gpu::count_sink{});
  CHECK(none.tested == 0);
  CHECK(none.kept == 0);
  CHECK(none.degree == std::vector<std::uint32_t>(4, 0));
  for (const auto adjust : {gpu::adjustment::bonferroni, gpu::adjustment::benjamini_hochberg}) {
    const gpu::edge_sink sink{.keep = {.max_p = 0.05, .adjust = adjust}};
    CHECK(Measure::run(const_view(flat), target.options(), sink).edges.empty());
  }
  check_dense<Measure>(const_view(flat), target);
}

template <class Measure>
void nan_is_refused_or_kept_to_its_row(const pair_target& target) {
  GPU_TEST_INFO(target);
  auto data = random_matrix<float>(40, 30, 17);
  data(11, 29) = std::numeric_limits<float>::quiet_NaN();
  data(11, 3) = std::numeric_limits<float>::quiet_NaN();
  data(39, 0) = std::numeric_limits<float>::quiet_NaN();
  try {
    (void)Measure::run(const_view(data), target.options(), gpu::count_sink{});
    FAIL("NaN was not refused");
  } catch (const gpu::invalid_argument& refusal) {
    const std::string what = refusal.what();
    INFO(what);
    CHECK(what.find("row 11") != std::string::npos);
    CHECK(what.find("column 3") != std::string::npos);
  }
  gpu::pair_options propagate = target.options();
  propagate.nans = gpu::nan_policy::propagate;
  const auto got = Measure::run(const_view(data), propagate, gpu::edge_sink{});
  CHECK(got.summary.nan_rows == std::vector<gpu::index_t>{11, 39});
  CHECK(got.summary.constant_rows.empty());
  check_edges<Measure>(got.edges, reference_pairs(Measure::oracle(const_view(data))), 30,
                       gpu::tail::two_sided);
  const auto dense = Measure::run(const_view(data), propagate, gpu::dense_sink{});
  CHECK(std::isnan(dense(11, 11)));
  CHECK(std::isnan(dense(0, 39)));
  CHECK(!std::isnan(dense(0, 38)));
}

template <class Measure>
void small_inputs_give_small_results(const pair_target& target) {
  GPU_TEST_INFO(target);
  for (const gpu::index_t rows : {gpu::index_t{0}, gpu::index_t{1}, gpu::index_t{2}}) {
    const auto data = random_matrix<double>(rows, 5, 18);
    const auto view = const_view(data);
    const auto options = target.options();
    const auto pairs = static_cast<std::uint64_t>(rows == 2 ? 1 : 0);
    CHECK(Measure::run(view, options, gpu::dense_sink{}).rows() == rows);
    CHECK(Measure::run(view, options, gpu::edge_sink{}).edges.size() == pairs);
    CHECK(Measure::run(view, options, gpu::count_sink{.histogram_bins = 4}).kept == pairs);
    const auto top = Measure::run(view, options, gpu::top_k_sink{.k = 3});
    CHECK(top.index.rows() == rows);
    CHECK(top.summary.pairs_kept == 2 * pairs);
    CHECK(Measure::plan(view, options, gpu::pair_filter{}).pairs == pairs);
    for (const auto adjust : {gpu::adjustment::bonferroni, gpu::adjustment::benjamini_hochberg}) {
      const gpu::count_sink sink{.keep = {.max_p = 1.0, .adjust = adjust}};
      CHECK(Measure::run(view, options, sink).kept == pairs);
    }
  }
}

template <class Measure>
void arguments_outside_their_range_are_refused(const pair_target& target) {
  GPU_TEST_INFO(target);
  const auto data = random_matrix<double>(4, 5, 19);
  const auto view = const_view(data);
  const auto options = target.options();
  const auto refused = [&](const auto& sink) {
    CHECK_THROWS_AS(Measure::run(view, options, sink), gpu::invalid_argument);
  };
  for (const double p : {0.0, -0.1, 1.5, std::numeric_limits<double>::quiet_NaN()}) {
    refused(gpu::edge_sink{.keep = {.max_p = p}});
    refused(gpu::count_sink{.keep = {.max_p = p}});
    refused(gpu::top_k_sink{.keep = {.max_p = p}});
  }
  for (const double r : {-0.1, 1.1, std::numeric_limits<double>::quiet_NaN()}) {
    refused(gpu::edge_sink{.keep = {.min_abs = r}});
    CHECK_THROWS_AS(Measure::plan(view, options, gpu::pair_filter{.min_abs = r}),
                    gpu::invalid_argument);
  }
  refused(gpu::edge_sink{.max_edges = -1});
  refused(gpu::top_k_sink{.k = 0});
  refused(gpu::count_sink{.histogram_bins = -1});
  refused(gpu::count_sink{.histogram_bins = 65537});
  refused(gpu::stream_sink{});
  refused(gpu::stream_sink{.consume = [](std::span<const gpu::edge>) {}, .batch_edges = 0});
  const gpu::matrix_view<const double> two_columns(data.data(), 4, 2, 5);
  CHECK_THROWS_AS(Measure::run(two_columns, options, gpu::dense_sink{}), gpu::invalid_argument);
}

}  // namespace gpu_test
