#pragma once
// The cases of x against y and of parts that every measure, backend and variant must pass, besides
// the random jobs of soak/pair_jobs.hpp. As tests/support/pair_cases.hpp; a measure also has
// against(x, y, options, sink).

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
#include "support/area_tables.hpp"
#include "support/pair_target.hpp"
#include "support/part_cases.hpp"
#include "support/refusals.hpp"

namespace gpu_test {

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
  SECTION("each side names its rows") {
    each_side_names_its_rows<Measure>(target);
  }
  SECTION("bad areas are refused") {
    bad_areas_are_refused<Measure>(target);
  }
  SECTION("plans know the area") {
    plans_know_the_area<Measure>(target);
  }
  SECTION("parts may hold all rows that have a statistic") {
    GPU_TEST_INFO(target);
    parts_may_hold_all_valid_rows<Measure>(target.options());
  }
}

}  // namespace gpu_test
