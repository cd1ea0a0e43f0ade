#pragma once
// The cases of x against y and of parts that every measure, backend and variant must pass. As
// tests/support/pair_cases.hpp; a measure also has against(x, y, options, sink).

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <numeric>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <gpu/error.hpp>

#include "reference/area_reference.hpp"
#include "support/area_relations.hpp"
#include "support/area_tables.hpp"
#include "support/pair_target.hpp"
#include "support/part_cases.hpp"
#include "support/refusals.hpp"

namespace gpu_test {

/// The pairs of a rectangle that pass `keep` without adjustment.
inline std::vector<reference_pair> filtered_rectangle(const statistic_table& block,
                                                      gpu::index_t observations,
                                                      const gpu::pair_filter& keep) {
  std::vector<reference_pair> out;
  for (const reference_pair& pair : reference_rectangle_pairs(block)) {
    const double key = reference_key(pair.statistic, keep.side);
    const bool strong = keep.min_abs == 0 || key >= keep.min_abs;
    if (strong && reference_p(pair.statistic, observations, keep.side) <= keep.max_p) {
      out.push_back(pair);
    }
  }
  return out;
}

template <class Measure, class X, class Y>
void check_dense_against(const gpu::matrix<X>& x, const gpu::matrix<Y>& y,
                         const statistic_table& wanted, const pair_target& target) {
  const auto got = Measure::against(x, y, target.options(), gpu::dense_sink{});
  const auto got_f32 = Measure::against(x, y, target.options(), gpu::dense_sink_f32{});
  REQUIRE(got.rows() == x.rows());
  REQUIRE(got.cols() == y.rows());
  REQUIRE(got_f32.cols() == y.rows());
  gpu::index_t wrong = 0;
  for (gpu::index_t i = 0; i < x.rows(); ++i) {
    for (gpu::index_t j = 0; j < y.rows(); ++j) {
      const double want = wanted[static_cast<std::size_t>(i)][static_cast<std::size_t>(j)];
      if (std::isnan(want)) {
        wrong += !std::isnan(got(i, j)) || !std::isnan(got_f32(i, j));
      } else {
        wrong += !Measure::same_dense(got(i, j), want);
        wrong += std::abs(static_cast<double>(got_f32(i, j)) - want) > 2e-6;
      }
    }
  }
  CHECK(wrong == 0);
  CHECK(got.summary.pairs_tested == reference_rectangle_pairs(wanted).size());
  CHECK(got.summary.rows == x.rows());
  CHECK(got.summary.y_rows == y.rows());
}

template <class Measure, class X, class Y>
void check_edges_against(const gpu::matrix<X>& x, const gpu::matrix<Y>& y,
                         const statistic_table& block, const gpu::pair_filter& keep,
                         const gpu::pair_options& options) {
  const auto wanted = filtered_rectangle(block, x.cols(), keep);
  const auto got = Measure::against(x, y, options, gpu::edge_sink{.keep = keep});
  check_edges<Measure>(got.edges, wanted, x.cols(), keep.side);
  CHECK(got.summary.pairs_kept == wanted.size());

  auto unordered = Measure::against(
      x, y, options, gpu::edge_sink{.keep = keep, .order = gpu::edge_order::unspecified});
  std::sort(unordered.edges.begin(), unordered.edges.end(),
            [](const gpu::edge& a, const gpu::edge& b) {
              return std::pair(a.row, a.col) < std::pair(b.row, b.col);
            });
  const bool same_unordered = unordered.edges == got.edges;
  CHECK(same_unordered);

  std::vector<gpu::edge> streamed;
  const auto collect = [&](std::span<const gpu::edge> batch) {
    streamed.insert(streamed.end(), batch.begin(), batch.end());
  };
  (void)Measure::against(x, y, options,
                         gpu::stream_sink{.keep = keep, .consume = collect, .batch_edges = 100});
  const bool same_stream = got.edges == streamed;
  CHECK(same_stream);

  const auto counted =
      Measure::against(x, y, options, gpu::count_sink{.keep = keep, .histogram_bins = 32});
  std::vector<std::uint32_t> of_x(static_cast<std::size_t>(x.rows()));
  std::vector<std::uint32_t> of_y(static_cast<std::size_t>(y.rows()));
  std::vector<std::uint64_t> bins(32);
  for (const gpu::edge& e : got.edges) {
    ++of_x[e.row];
    ++of_y[e.col];
    ++bins[static_cast<std::size_t>(std::min(31.0, std::floor((e.statistic + 1) * 16)))];
  }
  CHECK(counted.kept == wanted.size());
  CHECK(counted.tested == reference_rectangle_pairs(block).size());
  CHECK(counted.degree == of_x);
  CHECK(counted.y_degree == of_y);
  CHECK(counted.histogram == bins);
  const auto plain = Measure::against(x, y, options, gpu::count_sink{.keep = keep});
  CHECK(plain.kept == wanted.size());
  CHECK(plain.degree == of_x);
  CHECK(plain.y_degree == of_y);
}

template <class Measure, class X, class Y>
void check_top_k_against(const gpu::matrix<X>& x, const gpu::matrix<Y>& y,
                         const statistic_table& block, const gpu::pair_options& options) {
  for (const gpu::index_t k : {gpu::index_t{1}, gpu::index_t{10}, y.rows() + 3}) {
    for (const auto order :
         {gpu::neighbor_order::by_value, gpu::neighbor_order::by_absolute_value}) {
      INFO("k " << k << ", order " << static_cast<int>(order));
      const auto got = Measure::against(x, y, options, gpu::top_k_sink{.k = k, .order = order});
      REQUIRE(got.index.rows() == x.rows());
      gpu::index_t wrong = 0;
      for (gpu::index_t i = 0; i < x.rows(); ++i) {
        const auto wanted = reference_best(block[static_cast<std::size_t>(i)], k, order);
        wrong += got.count[static_cast<std::size_t>(i)] != wanted.size();
        for (std::size_t e = 0; e < wanted.size(); ++e) {
          const auto at = static_cast<gpu::index_t>(e);
          // Where rounding may order what is equal, the statistic alone is sure.
          if (Measure::ties_are_exact) wrong += got.index(i, at) != wanted[e].col;
          wrong += !Measure::same(std::abs(got.statistic(i, at)), std::abs(wanted[e].statistic));
          wrong += got.statistic(i, at) !=
                   got.statistic(i, at);  // no entry of a table is without statistic
        }
        for (auto e = static_cast<gpu::index_t>(wanted.size()); e < k; ++e) {
          wrong += got.index(i, e) != gpu::neighbor_table::no_neighbor;
        }
      }
      CHECK(wrong == 0);
    }
  }
}

template <class Measure, class X, class Y>
void against_equals_oracle(gpu::index_t rows_of_x, gpu::index_t rows_of_y, gpu::index_t cols,
                           const pair_target& target) {
  INFO(rows_of_x << " against " << rows_of_y << " of " << cols);
  const auto x = area_rows<X>(rows_of_x, cols, 11);
  const auto y = area_rows<Y>(rows_of_y, cols, 12);
  const auto stacked = reference_stack(x, y);
  const auto block = reference_block(Measure::oracle(const_view(stacked)), rows_of_x);
  check_dense_against<Measure>(x, y, block, target);
  for (const gpu::pair_filter& keep :
       std::vector<gpu::pair_filter>{{.max_p = 1e-5},
                                     {.max_p = 0.05},
                                     {.max_p = 0.02, .side = gpu::tail::less},
                                     {.max_p = 1.0, .min_abs = 0.4, .side = gpu::tail::greater},
                                     {.max_p = 1.0}}) {
    INFO("max_p " << keep.max_p << ", tail " << static_cast<int>(keep.side));
    check_edges_against<Measure>(x, y, block, keep, target.options());
  }
  check_top_k_against<Measure>(x, y, block, target.options());
}

template <class Measure>
void against_equals_oracle_in_every_shape(const pair_target& target) {
  GPU_TEST_INFO(target);
  against_equals_oracle<Measure, std::int32_t, std::int32_t>(1, 1, 5, target);
  against_equals_oracle<Measure, std::int32_t, std::int32_t>(1, 70, 9, target);
  against_equals_oracle<Measure, std::int32_t, std::int32_t>(70, 1, 9, target);
  against_equals_oracle<Measure, std::int32_t, double>(63, 65, 30, target);
  against_equals_oracle<Measure, double, std::int8_t>(64, 64, 31, target);
  against_equals_oracle<Measure, float, std::uint16_t>(100, 257, 30, target);
  against_equals_oracle<Measure, std::uint8_t, float>(129, 33, 64, target);
  against_equals_oracle<Measure, std::int16_t, std::int32_t>(40, 50, 129, target);
  against_equals_oracle<Measure, std::int32_t, std::int32_t>(33, 31, 300, target);
}

template <class Measure>
void adjustments_count_the_rectangle(const pair_target& target) {
  GPU_TEST_INFO(target);
  const auto x = area_rows<std::int32_t>(60, 30, 31);
  const auto y = area_rows<double>(90, 30, 32);
  const auto block = reference_block(Measure::oracle(const_view(reference_stack(x, y))), x.rows());
  const auto pairs = reference_rectangle_pairs(block);
  for (const gpu::tail side : {gpu::tail::two_sided, gpu::tail::greater}) {
    const auto bonferroni = Measure::against(
        x, y, target.options(),
        gpu::edge_sink{
            .keep = {.max_p = 0.05, .side = side, .adjust = gpu::adjustment::bonferroni}});
    const double level = 0.05 / static_cast<double>(pairs.size());
    check_edges<Measure>(bonferroni.edges,
                         filtered_rectangle(block, 30, {.max_p = level, .side = side}), 30, side);
    CHECK(bonferroni.summary.max_p_effective == level);

    std::vector<double> p;
    for (const reference_pair& pair : pairs) p.push_back(reference_p(pair.statistic, 30, side));
    const double largest = reference_benjamini_hochberg(p, 0.05);
    const auto rejected = std::count_if(p.begin(), p.end(), [&](double v) { return v <= largest; });
    const auto found = Measure::against(
        x, y, target.options(),
        gpu::edge_sink{
            .keep = {.max_p = 0.05, .side = side, .adjust = gpu::adjustment::benjamini_hochberg}});
    CHECK(static_cast<std::ptrdiff_t>(found.edges.size()) == rejected);
  }
}

/// Constant rows, rows with a NaN, empty tables: named for each side.
template <class Measure>
void each_side_names_its_rows(const pair_target& target) {
  GPU_TEST_INFO(target);
  auto x = random_matrix<double>(20, 12, 41);
  auto y = random_matrix<float>(30, 12, 42);
  std::fill_n(x.data() + 3 * 12, 12, 2.5);
  std::fill_n(y.data() + 7 * 12, 12, -1.0f);
  std::fill_n(y.data() + 29 * 12, 12, 0.0f);
  y(11, 5) = std::nanf("");
  gpu::pair_options options = target.options();
  try {
    (void)Measure::against(x, y, options, gpu::count_sink{});
    FAIL("a NaN of y was taken");
  } catch (const gpu::invalid_argument& refusal) {
    CHECK(std::string(refusal.what()).starts_with("y: got NaN at row 11, column 5"));
  }
  options.nans = gpu::nan_policy::propagate;
  const auto got = Measure::against(x, y, options, gpu::count_sink{.keep = {.max_p = 1.0}});
  CHECK(got.summary.constant_rows == std::vector<gpu::index_t>{3});
  CHECK(got.summary.nan_rows.empty());
  CHECK(got.summary.y_constant_rows == std::vector<gpu::index_t>{7, 29});
  CHECK(got.summary.y_nan_rows == std::vector<gpu::index_t>{11});
  CHECK(got.tested == 19 * 27);
  CHECK(got.kept == 19 * 27);
  x(19, 11) = std::nan("");
  options.nans = gpu::nan_policy::reject;
  try {
    (void)Measure::against(x, y, options, gpu::edge_sink{});
    FAIL("a NaN of x was taken");
  } catch (const gpu::invalid_argument& refusal) {
    CHECK(std::string(refusal.what()).starts_with("x: got NaN at row 19, column 11"));
  }

  const gpu::matrix<double> none(0, 12);
  options.nans = gpu::nan_policy::propagate;
  CHECK(Measure::against(none, y, options, gpu::edge_sink{}).edges.empty());
  CHECK(Measure::against(x, none, options, gpu::edge_sink{}).edges.empty());
  CHECK(Measure::against(none, none, options, gpu::count_sink{}).tested == 0);
  CHECK(Measure::against(x, none, options, gpu::dense_sink{}).cols() == 0);
  CHECK(Measure::against(none, y, options, gpu::dense_sink{}).cols() == 30);
  const auto alone = Measure::against(x, none, options, gpu::top_k_sink{.k = 2});
  CHECK(alone.index.rows() == 20);
  CHECK(alone.count == std::vector<gpu::node_id>(20));
  const auto degrees = Measure::against(none, y, options, gpu::count_sink{});
  CHECK(degrees.degree.empty());
  CHECK(degrees.y_degree == std::vector<std::uint32_t>(30));
}

template <class Measure>
void bad_areas_are_refused(const pair_target& target) {
  GPU_TEST_INFO(target);
  const auto x = random_matrix<double>(6, 12, 51);
  const auto y = random_matrix<double>(6, 11, 52);
  const gpu::pair_options options = target.options();
  check_refused([&] { (void)Measure::against(x, y, options, gpu::edge_sink{}); },
                "y: got 11 columns, expected 12 as in x");
  const auto with_part = [&](gpu::index_t index, gpu::index_t of) {
    gpu::pair_options out = options;
    out.part = {.index = index, .of = of};
    return out;
  };
  check_refused([&] { (void)Measure::run(x, with_part(0, 0), gpu::edge_sink{}); },
                "options.part.of: got 0");
  check_refused([&] { (void)Measure::run(x, with_part(3, 3), gpu::edge_sink{}); },
                "options.part.index: got 3, expected 0 to 2");
  check_refused([&] { (void)Measure::against(x, x, with_part(-1, 3), gpu::top_k_sink{}); },
                "options.part.index: got -1");
  const gpu::pair_filter hochberg{.max_p = 0.1, .adjust = gpu::adjustment::benjamini_hochberg};
  check_refused([&] { (void)Measure::run(x, with_part(0, 2), gpu::edge_sink{.keep = hochberg}); },
                "pair_filter.adjust: benjamini_hochberg");
  CHECK_THROWS_AS(Measure::run(x, with_part(0, 2), gpu::edge_sink{.keep = hochberg}),
                  gpu::unsupported);
}

/// The plan knows the pairs, and estimates what is kept, exactly where its sample is everything.
template <class Measure>
void plans_know_the_area(const pair_target& target) {
  GPU_TEST_INFO(target);
  const auto x = area_rows<std::int32_t>(70, 30, 71);
  const auto y = area_rows<float>(90, 30, 72);
  const gpu::pair_filter keep{.max_p = 0.1};
  gpu::pair_options options = target.options();
  const auto kept = Measure::against(x, y, options, gpu::count_sink{.keep = keep}).kept;
  const auto plan = Measure::plan_against(x, y, options, keep);
  CHECK(plan.pairs == 70 * 90);
  CHECK(plan.kept_estimate == Approx(static_cast<double>(kept)));
  CHECK(plan.kept_upper == plan.kept_estimate);
  CHECK(plan.used == target.where);
  std::uint64_t pairs = 0;
  std::uint64_t pairs_against = 0;
  for (gpu::index_t index = 0; index < 7; ++index) {
    options.part = {.index = index, .of = 7};
    pairs += Measure::plan(x, options, keep).pairs;
    pairs_against += Measure::plan_against(x, y, options, keep).pairs;
  }
  CHECK(pairs == 70 * 69 / 2);
  CHECK(pairs_against == 70 * 90);

  // Of more rows than the sample has: within its own bound.
  const auto many = area_rows<std::int32_t>(5000, 30, 73);
  options = target.options();
  const auto all = Measure::against(x, many, options, gpu::count_sink{.keep = keep}).kept;
  const auto estimated = Measure::plan_against(x, many, options, keep);
  CHECK(estimated.sampled_pairs < 70 * 5000);
  CHECK(estimated.kept_upper >= static_cast<double>(all));
  CHECK(estimated.kept_estimate == Approx(static_cast<double>(all)).epsilon(0.2));
}

/// Every case but those of element types.
template <class Measure>
void run_area_cases(const pair_target& target) {
  SECTION("x against y equals the oracle in every shape") {
    against_equals_oracle_in_every_shape<Measure>(target);
  }
  SECTION("a split gives the block of the whole") {
    a_split_gives_the_block_of_the_whole<Measure>(target);
  }
  SECTION("a table against itself is symmetric") {
    a_table_against_itself_is_symmetric<Measure>(target);
  }
  SECTION("adjustments count the rectangle") {
    adjustments_count_the_rectangle<Measure>(target);
  }
  SECTION("each side names its rows") {
    each_side_names_its_rows<Measure>(target);
  }
  SECTION("bad areas are refused") {
    bad_areas_are_refused<Measure>(target);
  }
  SECTION("plans know the area") {
    plans_know_the_area<Measure>(target);
  }
  SECTION("parts are the whole") {
    GPU_TEST_INFO(target);
    parts_are_the_whole<Measure>(target.options());
  }
  SECTION("parts may hold all rows that have a statistic") {
    GPU_TEST_INFO(target);
    parts_may_hold_all_valid_rows<Measure>(target.options());
  }
}

}  // namespace gpu_test
