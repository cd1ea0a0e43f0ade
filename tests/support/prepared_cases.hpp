#pragma once
// Cases of rows that are prepared once: a query gives what the call with both tables gives, from
// every sink. A measure has prepare(data, options) besides.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <gpu/error.hpp>
#include <gpu/prepared_rows.hpp>

#include "support/area_cases.hpp"
#include "support/refusals.hpp"

namespace gpu_test {

template <class Value>
gpu::index_t different_values(const gpu::matrix<Value>& a, const gpu::matrix<Value>& b) {
  if (a.rows() != b.rows() || a.cols() != b.cols()) return -1;
  gpu::index_t out = 0;
  for (gpu::index_t i = 0; i < a.rows() * a.cols(); ++i) {
    out += !same_or_nan(static_cast<double>(a.data()[i]), static_cast<double>(b.data()[i]));
  }
  return out;
}

/// Whether every sink says the same of `x` against `prepared` as of `x` against `y`.
template <class Measure, class X, class Y>
bool queries_like_the_table(const X& x, const Y& y, const gpu::prepared_rows& prepared,
                            const gpu::pair_options& options) {
  const gpu::pair_filter keep{.max_p = 0.03};
  const auto edges = gpu::edge_sink{.keep = keep};
  const auto got = Measure::against(x, prepared, options, edges);
  const auto wanted = Measure::against(x, y, options, edges);
  bool same = got.edges == wanted.edges;
  same &= got.summary.pairs_tested == wanted.summary.pairs_tested;
  same &= got.summary.rows == wanted.summary.rows && got.summary.y_rows == wanted.summary.y_rows;
  same &= got.summary.constant_rows == wanted.summary.constant_rows;
  same &= got.summary.y_constant_rows == wanted.summary.y_constant_rows;
  same &= got.summary.y_nan_rows == wanted.summary.y_nan_rows;
  same &= got.summary.infinite_rows == wanted.summary.infinite_rows;
  same &= got.summary.y_infinite_rows == wanted.summary.y_infinite_rows;
  const gpu::count_sink counting{.keep = keep, .histogram_bins = 24};
  const auto counts = Measure::against(x, prepared, options, counting);
  const auto wanted_counts = Measure::against(x, y, options, counting);
  same &= counts.kept == wanted_counts.kept && counts.tested == wanted_counts.tested;
  same &= counts.degree == wanted_counts.degree && counts.y_degree == wanted_counts.y_degree;
  same &= counts.histogram == wanted_counts.histogram;
  for (const gpu::index_t k : {gpu::index_t{1}, gpu::index_t{10}}) {
    const gpu::top_k_sink nearest{.k = k};
    const auto near = Measure::against(x, prepared, options, nearest);
    const auto wanted_near = Measure::against(x, y, options, nearest);
    same &= near.count == wanted_near.count;
    same &= different_values(near.index, wanted_near.index) == 0;
    same &= different_values(near.statistic, wanted_near.statistic) == 0;
  }
  const gpu::matrix<double>& dense = Measure::against(x, prepared, options, gpu::dense_sink{});
  const gpu::matrix<double>& block = Measure::against(x, y, options, gpu::dense_sink{});
  same &= different_values(dense, block) == 0;
  return same;
}

/// More rows of x than there is room for beside the prepared ones, and none.
template <class Measure>
void queries_may_have_many_rows_or_none(const pair_target& target) {
  GPU_TEST_INFO(target);
  const auto y = area_rows<float>(70, 20, 74);
  const gpu::prepared_rows prepared = Measure::prepare(y, target.options());
  CHECK(queries_like_the_table<Measure>(area_rows<float>(5000, 20, 75), y, prepared,
                                        target.options()));
  const gpu::matrix<float> none(0, 20);
  CHECK(Measure::against(none, prepared, target.options(), gpu::edge_sink{}).edges.empty());
  const gpu::prepared_rows nothing = Measure::prepare(none, target.options());
  CHECK(nothing.rows() == 0);
  CHECK(Measure::against(y, nothing, target.options(), gpu::edge_sink{}).edges.empty());
}

template <class Measure>
void prepared_rows_tell_what_has_no_statistic(const pair_target& target) {
  GPU_TEST_INFO(target);
  auto y = random_matrix<double>(40, 12, 76);
  std::fill_n(y.data() + 3 * 12, 12, 2.5);
  y(17, 4) = std::nan("");
  y(9, 2) = std::numeric_limits<double>::infinity();
  gpu::pair_options options = target.options();
  try {
    (void)Measure::prepare(y, options);
    FAIL("a NaN was taken");
  } catch (const gpu::invalid_argument& refusal) {
    CHECK(std::string(refusal.what()).starts_with("data: got NaN at row 17, column 4"));
  }
  options.nans = gpu::nan_policy::propagate;
  const gpu::prepared_rows prepared = Measure::prepare(y, options);
  CHECK(std::vector(prepared.constant_rows().begin(), prepared.constant_rows().end()) ==
        std::vector<gpu::index_t>{3});
  CHECK(std::vector(prepared.nan_rows().begin(), prepared.nan_rows().end()) ==
        std::vector<gpu::index_t>{17});
  const bool is_of_ranks = gpu::info_of(prepared.what()).scale == gpu::value_scale::ordinal;
  CHECK(std::vector(prepared.infinite_rows().begin(), prepared.infinite_rows().end()) ==
        (is_of_ranks ? std::vector<gpu::index_t>{} : std::vector<gpu::index_t>{9}));
  auto x = random_matrix<double>(5, 12, 77);
  CHECK(queries_like_the_table<Measure>(x, y, prepared, options));
  x(2, 3) = std::nan("");
  options.nans = gpu::nan_policy::reject;
  CHECK_THROWS_AS(Measure::against(x, prepared, options, gpu::edge_sink{}), gpu::invalid_argument);
}

template <class Measure, class Other>
void wrong_queries_are_refused(const pair_target& target) {
  GPU_TEST_INFO(target);
  const auto y = random_matrix<double>(30, 12, 78);
  const auto x = random_matrix<double>(4, 12, 79);
  const gpu::prepared_rows prepared = Measure::prepare(y, target.options());
  check_refused([&] { (void)Other::against(x, prepared, {}, gpu::edge_sink{}); },
                "y: was prepared for ");
  check_refused(
      [&] {
        (void)Measure::against(random_matrix<double>(4, 11, 1), prepared, {}, gpu::edge_sink{});
      },
      "y: got 12 columns, expected 11 as in x");
  gpu::pair_options elsewhere;
  elsewhere.exec.target =
      target.where == gpu::backend::cpu ? gpu::backend::cuda : gpu::backend::cpu;
  check_refused([&] { (void)Measure::against(x, prepared, elsewhere, gpu::edge_sink{}); },
                "y: was prepared on ");
  gpu::pair_options folded;
  folded.fold = gpu::row_folding::always;
  check_refused([&] { (void)Measure::against(x, prepared, folded, gpu::edge_sink{}); },
                "options.fold");
}

/// Queries of several threads at once.
template <class Measure>
void queries_do_not_meet(const pair_target& target) {
  GPU_TEST_INFO(target);
  const auto y = area_rows<std::int8_t>(800, 30, 80);
  const gpu::prepared_rows prepared = Measure::prepare(y, target.options());
  std::vector<char> same(4);
  std::vector<std::thread> threads;
  for (std::size_t t = 0; t < same.size(); ++t) {
    threads.emplace_back([&, t] {
      bool all = true;
      for (int turn = 0; turn < 5; ++turn) {
        const auto x = area_rows<std::int8_t>(1 + 30 * static_cast<gpu::index_t>(t), 30, 81 + t);
        all = all && queries_like_the_table<Measure>(x, y, prepared, target.options());
      }
      same[t] = all ? 1 : 0;
    });
  }
  for (std::thread& thread : threads) thread.join();
  CHECK(same == std::vector<char>(4, 1));
}

template <class Measure, class Other>
void run_prepared_cases(const pair_target& target) {
  SECTION("queries may have many rows or none") {
    queries_may_have_many_rows_or_none<Measure>(target);
  }
  SECTION("prepared rows tell what has no statistic") {
    prepared_rows_tell_what_has_no_statistic<Measure>(target);
  }
  SECTION("wrong queries are refused") {
    wrong_queries_are_refused<Measure, Other>(target);
  }
  SECTION("queries do not meet") {
    queries_do_not_meet<Measure>(target);
  }
}

}  // namespace gpu_test
