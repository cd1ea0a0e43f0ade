// Differential correlation beside the definition in long double.
#include <gpu/differential.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numeric>
#include <string>
#include <vector>

#include <gpu/error.hpp>
#include <gpu/matrix_view.hpp>

#include "differential/differences.hpp"
#include "support/catch.hpp"
#include "support/generators.hpp"
#include "support/refusals.hpp"

namespace {

using gpu_test::check_refused;
using namespace gpu_test::differences;

void check_edges(const std::vector<gpu::differential_edge>& got,
                 const std::vector<pair_difference>& wanted) {
  REQUIRE(got.size() == wanted.size());
  bool same_pairs = true;
  bool near = true;
  for (std::size_t e = 0; e < got.size(); ++e) {
    const auto& own = wanted[e];
    same_pairs &= got[e].row == own.row && got[e].col == own.col;
    near &= std::abs(got[e].first - own.first) <= 4e-15;
    near &= std::abs(got[e].second - own.second) <= 4e-15;
    near &= got[e].z == own.z || std::abs(got[e].z - own.z) <= 1e-11L * (1 + std::abs(own.z));
    near &= std::abs(got[e].p - own.p) <= 1e-10L * own.p;
  }
  CHECK(same_pairs);
  CHECK(near);
}

template <class T>
void check_filters(gpu::measure what, const gpu::matrix<T>& data, const groups& of) {
  for (const gpu::tail side : sides) {
    const auto all = every_pair(what, data, of, side);
    for (const double max_p : {1.0, 0.31, 0.0101}) {
      for (const double min_abs_z : {0.0, 1.2345}) {
        INFO(gpu::to_string(what) << ", max_p " << max_p << ", min_abs_z " << min_abs_z << ", tail "
                                  << static_cast<int>(side));
        const gpu::differential_filter keep{.max_p = max_p, .min_abs_z = min_abs_z, .side = side};
        const auto wanted = kept_of(all, keep, max_p);
        const auto got = gpu::differential_pairs(what, data, of.view(), {},
                                                 gpu::differential_edge_sink{.keep = keep});
        check_edges(got.edges, wanted);
        CHECK(got.summary.pairs_tested == all.size());
        CHECK(got.summary.pairs_kept == wanted.size());
        const auto counts =
            gpu::differential_pairs(what, data, of.view(), {}, gpu::differential_count_sink{keep});
        CHECK(counts.summary.pairs_kept == wanted.size());
        std::vector<std::uint32_t> degree(static_cast<std::size_t>(data.rows()));
        for (const auto& pair : wanted) {
          ++degree[pair.row];
          ++degree[pair.col];
        }
        CHECK(counts.degree == degree);
      }
    }
  }
}

struct literal {
  gpu::node_id row;
  gpu::node_id col;
  double first;
  double second;
  double z;
  double p;
};

}  // namespace

TEST_CASE("differential correlation of many shapes", "[differential]") {
  for (const gpu::measure what : measures) {
    for (const gpu::index_t rows : {0, 1, 2, 7, 16, 17, 60}) {
      for (const gpu::index_t cols : {12, 13, 40, 61}) {
        INFO(rows << " rows, " << cols << " columns");
        check_filters(what, make_rows<double>(rows, cols, 3), some_groups(cols));
      }
    }
    check_filters(what, make_rows<float>(40, 200, 4), some_groups(200));
    check_filters(what, make_rows<std::int8_t>(40, 50, 5), some_groups(50));
  }
}

TEST_CASE("differential correlation is NumPy's formula", "[differential]") {
  const std::vector<double> values{1.2, 0.3, 2.5, 3.1, 0.7, 1.9, 2.2, 0.1, 1.4, 3.3, 2.8,
                                   0.9, 0.6, 2.2, 3.5, 0.2, 1.1, 0.3, 2.9, 1.7, 0.8, 1.2,
                                   5,   3,   4,   1,   2,   6,   1,   2,   4,   3,   5.5};
  const gpu::matrix_view<const double> data(values.data(), 3, 11);
  const groups of{{0, 1, 2, 3, 4, 5}, {6, 7, 8, 9, 10}};
  const auto check = [&](gpu::measure what, const std::vector<literal>& wanted) {
    const auto got = gpu::differential_pairs(what, data, of.view());
    REQUIRE(got.edges.size() == wanted.size());
    for (std::size_t e = 0; e < wanted.size(); ++e) {
      CHECK(got.edges[e].row == wanted[e].row);
      CHECK(got.edges[e].col == wanted[e].col);
      CHECK(std::abs(got.edges[e].first - wanted[e].first) <= 1e-14);
      CHECK(std::abs(got.edges[e].second - wanted[e].second) <= 1e-14);
      CHECK(std::abs(got.edges[e].z - wanted[e].z) <= 1e-12);
      CHECK(std::abs(got.edges[e].p - wanted[e].p) <= 1e-12);
    }
  };
  check(
      gpu::measure::pearson,
      {{0, 1, 0.9259201733187513, -0.8388212056681225, 3.117845817833415, 0.0018217808091114905},
       {0, 2, -0.11406516945035444, 0.33222513228064837, -0.5037855074890436, 0.6144121129159211},
       {1, 2, -0.3630088604699242, 0.07348550596834309, -0.49729407722936564, 0.6189816877891828}});
  check(gpu::measure::spearman,
        {{0, 1, 0.942857142857143, -0.7, 2.7988061848345644, 0.005129191450827869},
         {0, 2, -0.08571428571428573, 0.3, -0.4207493807800014, 0.6739380982365303},
         {1, 2, -0.028571428571428574, 0.3, -0.3597338734626298, 0.7190461581647349}});
}

TEST_CASE("differential correlation of more rows than a block has", "[differential]") {
  const auto data = make_rows<float>(2100, 24, 9);
  const groups of = some_groups(24);
  for (const gpu::measure what : measures) {
    const auto all = every_pair(what, data, of, gpu::tail::two_sided);
    const gpu::differential_filter keep{.max_p = 0.001};
    gpu::pair_options options;
    options.exec.cpu_threads = 3;
    check_edges(gpu::differential_pairs(what, data, of.view(), options,
                                        gpu::differential_edge_sink{.keep = keep})
                    .edges,
                kept_of(all, keep, 0.001L));
    const auto counts =
        gpu::differential_pairs(what, data, of.view(), options, gpu::differential_count_sink{keep});
    CHECK(counts.summary.pairs_tested == all.size());
    CHECK(std::accumulate(counts.degree.begin(), counts.degree.end(), std::uint64_t{0}) ==
          2 * counts.summary.pairs_kept);
  }
}

TEST_CASE("differential correlation adjusts p", "[differential]") {
  const auto data = make_rows<double>(80, 45, 2);
  const groups of = some_groups(45);
  for (const gpu::measure what : measures) {
    for (const gpu::tail side : sides) {
      const auto all = every_pair(what, data, of, side);
      const auto family = static_cast<double>(all.size());
      for (const double alpha : {0.5, 0.05, 1e-7}) {
        INFO(gpu::to_string(what) << ", tail " << static_cast<int>(side) << ", alpha " << alpha);
        const auto kept = [&](gpu::adjustment adjust) {
          return gpu::differential_pairs(
              what, data, of.view(), {},
              gpu::differential_edge_sink{
                  .keep = {.max_p = alpha, .side = side, .adjust = adjust}});
        };
        const auto bonferroni = kept(gpu::adjustment::bonferroni);
        check_edges(bonferroni.edges, kept_of(all, {.side = side}, alpha / family));
        CHECK(bonferroni.summary.max_p_effective == alpha / family);
        std::vector<double> p;
        for (const auto& pair : all) p.push_back(static_cast<double>(pair.p));
        std::sort(p.begin(), p.end());
        std::size_t rejected = p.size();
        while (rejected > 0 && p[rejected - 1] > alpha * static_cast<double>(rejected) / family) {
          --rejected;
        }
        CHECK(kept(gpu::adjustment::benjamini_hochberg).edges.size() == rejected);
      }
    }
  }
}

TEST_CASE("differential correlation of rows without a statistic", "[differential]") {
  const groups of = some_groups(30);
  // A value in neither group, one in the first group, and a row that is constant in the first.
  const auto rows_with = [](double elsewhere, double in_first) {
    auto data = make_rows<double>(12, 30, 8);
    data(2, 2) = elsewhere;
    data(4, 3) = in_first;
    for (gpu::index_t k = 0; k < 30; ++k) data(9, k) = k % 3 == 0 ? 1 : data(9, k);
    return data;
  };
  const auto infinite = rows_with(infinity, -infinity);
  const auto holed = rows_with(nan_value, nan_value);
  for (const gpu::measure what : measures) {
    const bool is_ordinal = what == gpu::measure::spearman;
    const auto of_infinite = gpu::differential_pairs(what, infinite, of.view()).summary;
    CHECK(of_infinite.infinite_rows == std::vector<gpu::index_t>(is_ordinal ? 0 : 1, 4));
    CHECK(of_infinite.constant_rows == std::vector<gpu::index_t>{6, 9});
    CHECK(of_infinite.pairs_tested == (is_ordinal ? 10 * 9 / 2 : 9 * 8 / 2));
    CHECK_THROWS_AS(gpu::differential_pairs(what, holed, of.view()), gpu::invalid_argument);
    const auto got =
        gpu::differential_pairs(what, holed, of.view(), {.nans = gpu::nan_policy::propagate});
    CHECK(got.summary.nan_rows == std::vector<gpu::index_t>{4});
    CHECK(got.summary.constant_rows == std::vector<gpu::index_t>{6, 9});
    CHECK(got.summary.pairs_tested == 9 * 8 / 2);
    CHECK(got.edges.size() == 9 * 8 / 2);
    for (const auto& e : got.edges) CHECK(!std::isnan(e.z));
  }
}

TEST_CASE("differential correlation of 1 and -1", "[differential]") {
  // Rows 0 and 1 are equal in the first group, opposite in the second; 0 and 2 equal in both.
  gpu::matrix<double> data(4, 10);
  for (gpu::index_t k = 0; k < 10; ++k) {
    const auto x = static_cast<double>(k * k % 7 + k);
    data(0, k) = data(2, k) = x;
    data(1, k) = k < 5 ? x : -x;
    data(3, k) = static_cast<double>(k * 5 % 11);
  }
  const groups of{{0, 1, 2, 3, 4}, {5, 6, 7, 8, 9}};
  const auto got = gpu::differential_pairs(gpu::measure::spearman, data, of.view());
  REQUIRE(got.edges.size() == 6);
  CHECK(got.edges[0].z == infinity);
  CHECK(got.edges[0].p == 0);
  CHECK(got.edges[1].z == 0);
  CHECK(got.edges[1].p == 1);
  CHECK(got.edges[3].z == infinity);  // rows 1 and 2
  for (const double max_p : {1e-3, 1e-300}) {
    const auto strict =
        gpu::differential_pairs(gpu::measure::spearman, data, of.view(), {},
                                gpu::differential_edge_sink{.keep = {.max_p = max_p}});
    CHECK(strict.edges.size() == 2);
  }
  CHECK(gpu::differential_z(1, 1, 0.5) == 0);
  CHECK(gpu::differential_z(1, 0.3, 0.5) == infinity);
  CHECK(gpu::differential_z(-1, 1, 0.5) == -infinity);
  CHECK(std::isnan(gpu::differential_z(nan_value, 0.1, 0.5)));
}

TEST_CASE("z and its standard error", "[differential]") {
  CHECK(std::abs(gpu::differential_standard_error(gpu::measure::pearson, 13, 23) -
                 std::sqrt(0.1 + 0.05)) < 1e-15);
  CHECK(std::abs(gpu::differential_standard_error(gpu::measure::spearman, 13, 23) -
                 std::sqrt(0.106 + 0.053)) < 1e-15);
  // Near 1 and near each other, where differences of atanh lose digits.
  for (const double r : {0.999999, 1 - 1e-12, -0.5, 1e-9}) {
    for (const double step : {1e-13, 1e-7, 0.1}) {
      const double other = r - step * (1 - r);
      const long double wanted =
          (std::atanh(static_cast<long double>(r)) - std::atanh(static_cast<long double>(other))) /
          0.25L;
      INFO(r << " " << step);
      CHECK(std::abs(gpu::differential_z(r, other, 0.25) - wanted) <= 2e-5L * std::abs(wanted));
      CHECK(gpu::differential_z(r, other, 0.25) == -gpu::differential_z(other, r, 0.25));
    }
  }
  // Far apart, where the ratio of both formulas rounds to 1. Infinite only where one is 1 or -1.
  for (const double r : {1 - 1e-16, 1 - 1e-12, 1 - 1e-8, 0.9}) {
    for (const double other : {-(1 - 1e-16), -(1 - 1e-12), -(1 - 1e-8), -0.5, 0.3}) {
      const long double wanted = std::log((1.0L + r) / (1.0L - r)) / 2.0L -
                                 std::log((1.0L + other) / (1.0L - other)) / 2.0L;
      INFO(r << " " << other);
      CHECK(std::abs(gpu::differential_z(r, other, 1) - wanted) <= 1e-14L * wanted);
    }
  }
  CHECK_THROWS_AS(gpu::differential_standard_error(gpu::measure::pearson, 3, 9),
                  gpu::invalid_argument);
  CHECK_THROWS_AS(gpu::differential_standard_error(gpu::measure::kendall, 9, 9), gpu::unsupported);
  CHECK_THROWS_AS(gpu::differential_z(1.2, 0, 1), gpu::invalid_argument);
  CHECK_THROWS_AS(gpu::differential_z(0.2, 0, 0), gpu::invalid_argument);
}

TEST_CASE("differential correlation takes every layout, and stops where it is told",
          "[differential]") {
  const auto data = make_rows<float>(30, 24, 6);
  const groups of = some_groups(24);
  const auto wanted = gpu::differential_pairs(gpu::measure::pearson, data, of.view());
  gpu::matrix<float> turned(24, 30);
  for (gpu::index_t i = 0; i < 30; ++i) {
    for (gpu::index_t k = 0; k < 24; ++k) turned(k, i) = data(i, k);
  }
  const gpu::column_matrix_view<const float> columns(turned.data(), 30, 24);
  CHECK(gpu::differential_pairs(gpu::measure::pearson, columns, of.view()).edges == wanted.edges);
  const auto kept = static_cast<gpu::index_t>(wanted.edges.size());
  CHECK(gpu::differential_pairs(gpu::measure::pearson, data, of.view(), {},
                                gpu::differential_edge_sink{.max_edges = kept})
            .edges == wanted.edges);
  try {
    (void)gpu::differential_pairs(gpu::measure::pearson, data, of.view(), {},
                                  gpu::differential_edge_sink{.max_edges = kept - 1});
    FAIL("nothing was thrown");
  } catch (const gpu::capacity_exceeded& error) {
    CHECK(error.required() == kept);
  }
  gpu::pair_options cancelled;
  cancelled.exec.on_progress = [](const gpu::progress&) { return gpu::progress_reply::cancel; };
  CHECK_THROWS_AS(gpu::differential_pairs(gpu::measure::pearson, data, of.view(), cancelled),
                  gpu::cancelled);
}

TEST_CASE("what differential correlation is refused for", "[differential]") {
  const auto data = make_rows<double>(10, 24, 6);
  const groups of = some_groups(24);
  // A table in device memory that is not there: it is refused before it is read.
  const std::vector<double> never_read(240);
  const gpu::device_matrix_view<const double> there(never_read.data(), 10, 24);
  const auto refused = [&](const groups& own, const gpu::pair_options& options, const auto& sink,
                           const std::string& begin) {
    const auto call = [&](const auto& table) {
      (void)gpu::differential_pairs(gpu::measure::pearson, table, own.view(), options, sink);
    };
    check_refused([&] { call(data); }, begin);
    check_refused([&] { call(there); }, begin);
  };
  const gpu::differential_edge_sink edges;
  refused({{0, 1, 2}, {4, 5, 6, 7}}, {}, edges, "groups.first: got 3 columns");
  refused({{0, 1, 2, 3}, {4, 5, 6}}, {}, edges, "groups.second: got 3 columns");
  refused({{0, 1, 2, 24}, {4, 5, 6, 7}}, {}, edges, "groups.first: got column 24");
  refused({{0, 1, 2, 3}, {4, 5, 6, 24}}, {}, edges, "groups.second: got column 24");
  refused({{0, 1, 2, 4}, {4, 5, 6, 7}}, {}, edges, "groups.second: got column 4 twice");
  refused(of, {.nans = gpu::nan_policy::pairwise}, edges, "options.nans: ");
  refused(of, {.p_method = gpu::p_method::exact}, edges, "options.p_method: ");
  refused(of, {.fold = gpu::row_folding::always}, edges, "options.fold: ");
  refused(of, {.part = {.index = 2, .of = 2}}, edges, "options.part");
  refused(of, {.part = {.index = 0, .of = 2}},
          gpu::differential_count_sink{{.adjust = gpu::adjustment::benjamini_hochberg}},
          "differential_filter.adjust: ");
  refused(of, {}, gpu::differential_top_k_sink{.k = 0}, "differential_top_k_sink.k: ");
  refused(of, {}, gpu::differential_edge_sink{.keep = {.max_p = 0}}, "differential_filter.max_p: ");
  refused(of, {}, gpu::differential_edge_sink{.keep = {.min_abs_z = -1}},
          "differential_filter.min_abs_z: ");
  refused(of, {}, gpu::differential_edge_sink{.max_edges = -1},
          "differential_edge_sink.max_edges: ");
  check_refused([&] { (void)gpu::differential_pairs(gpu::measure::kendall, data, of.view()); },
                "measure: the standard error");
  const gpu::pair_options on_cpu{.exec = {.target = gpu::backend::cpu}};
  const auto refused_there = [&](const auto& sink) {
    check_refused(
        [&] {
          (void)gpu::differential_pairs(gpu::measure::pearson, there, of.view(), on_cpu, sink);
        },
        "execution.target: got cpu for data in device memory");
  };
  refused_there(edges);
  refused_there(gpu::discovery_sink{});
}
