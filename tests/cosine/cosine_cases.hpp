#pragma once
// The cases of cosine: every sink, door and option against the oracle, on one backend and variant.
// Cosine has no significance test, so its cases cut by magnitude alone and expect p to be NaN.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <span>
#include <utility>
#include <vector>

#include <gpu/all_pairs.hpp>
#include <gpu/error.hpp>
#include <gpu/prepared_rows.hpp>

#include "reference/correlation_reference.hpp"
#include "support/generators.hpp"
#include "support/pair_sink_cases.hpp"
#include "support/pair_target.hpp"

namespace gpu_test {

/// Cosine as a measure of the cases that need no p.
struct cosine_measure {
  template <class View, class Sink>
  static auto run(const View& data, const gpu::pair_options& options, const Sink& sink) {
    return gpu::cosine_all_pairs(data, options, sink);
  }
  template <class T>
  static statistic_table oracle(gpu::matrix_view<const T> data) {
    return reference_cosine(data);
  }
  static bool same(double got, double wanted) { return std::abs(got - wanted) <= 4e-15; }
  static bool same_dense(double got, double wanted) { return std::abs(got - wanted) <= 2e-6; }
};

/// Values around 0 in some rows and positive ones in others, whose cosines are near 1; a row of
/// equal values, which has a statistic, and one of zeros, which has none.
inline gpu::matrix<float> mixed_rows(gpu::index_t rows, gpu::index_t cols, std::uint64_t seed) {
  auto out = random_matrix<float>(rows, cols, seed);
  for (gpu::index_t i = 0; i < rows; ++i) {
    for (gpu::index_t k = 0; k < cols; ++k) {
      if (i % 3 == 0) out(i, k) = std::abs(out(i, k)) + 0.25F;
      if (i == 1) out(i, k) = 2.5F;
      if (i == 2) out(i, k) = 0.0F;
    }
  }
  return out;
}

inline std::vector<gpu::pair_filter> cosine_filters() {
  std::vector<gpu::pair_filter> out;
  for (const gpu::tail side : {gpu::tail::two_sided, gpu::tail::greater, gpu::tail::less}) {
    for (const double min_abs : {0.0, 0.2, 0.61, 0.95})
      out.push_back({.min_abs = min_abs, .side = side});
  }
  return out;
}

/// The pairs that pass `keep`, by the definition of pair_filter.
inline std::vector<reference_pair> passing(const statistic_table& table,
                                           const gpu::pair_filter& keep) {
  std::vector<reference_pair> out;
  for (const reference_pair& pair : reference_pairs(table)) {
    if (keep.min_abs == 0 || reference_key(pair.statistic, keep.side) >= keep.min_abs) {
      out.push_back(pair);
    }
  }
  return out;
}

inline void check_cosine_edges(std::span<const gpu::edge> got,
                               const std::vector<reference_pair>& wanted) {
  REQUIRE(got.size() == wanted.size());
  std::size_t wrong = 0;
  for (std::size_t e = 0; e < got.size(); ++e) {
    wrong += got[e].row != wanted[e].row || got[e].col != wanted[e].col ||
             !cosine_measure::same(got[e].statistic, wanted[e].statistic) || !std::isnan(got[e].p);
  }
  CHECK(wrong == 0);
}

inline void cosine_dense_equals_the_oracle(const pair_target& target) {
  for (const auto& [rows, cols] : std::vector<std::pair<gpu::index_t, gpu::index_t>>{
           {2, 1}, {3, 2}, {7, 8}, {17, 30}, {65, 65}, {40, 127}, {42, 129}, {9, 257}, {70, 513}}) {
    INFO("shape " << rows << " x " << cols);
    check_dense<cosine_measure>(const_view(mixed_rows(rows, cols, 5)), target);
    check_dense<cosine_measure>(const_view(tied_matrix<std::int32_t>(rows, cols, 6)), target);
    check_dense<cosine_measure>(const_view(random_matrix<double>(rows, cols, 7)), target);
  }
  dense_takes_element_type<cosine_measure, std::int8_t>(target);
  dense_takes_element_type<cosine_measure, std::uint8_t>(target);
  dense_takes_element_type<cosine_measure, std::int16_t>(target);
  dense_takes_element_type<cosine_measure, std::uint16_t>(target);
}

/// Edges, streams, counts with degrees and histogram, and best partners hold what the oracle says.
inline void cosine_sinks_equal_the_oracle(const pair_target& target, gpu::index_t rows,
                                          gpu::index_t cols) {
  GPU_TEST_INFO(target);
  const auto data = mixed_rows(rows, cols, static_cast<std::uint64_t>(rows + cols));
  const auto table = reference_cosine(const_view(data));
  for (const gpu::pair_filter& keep : cosine_filters()) {
    INFO("min_abs " << keep.min_abs << ", tail " << static_cast<int>(keep.side));
    const auto wanted = passing(table, keep);
    const auto edges =
        gpu::cosine_all_pairs(data.view(), target.options(), gpu::edge_sink{.keep = keep});
    check_cosine_edges(edges.edges, wanted);
    CHECK(edges.summary.pairs_tested == reference_pairs(table).size());
    CHECK(edges.summary.constant_rows == std::vector<gpu::index_t>{2});

    std::vector<gpu::edge> streamed;
    const auto summary = gpu::cosine_all_pairs(
        data.view(), target.options(),
        gpu::stream_sink{.keep = keep, .consume = [&](std::span<const gpu::edge> some) {
                           streamed.insert(streamed.end(), some.begin(), some.end());
                         }});
    check_cosine_edges(streamed, wanted);
    CHECK(summary.checksum == edges.summary.checksum);

    const auto counts = gpu::cosine_all_pairs(data.view(), target.options(),
                                              gpu::count_sink{.keep = keep, .histogram_bins = 20});
    std::vector<std::uint32_t> degree(static_cast<std::size_t>(rows));
    for (const reference_pair& pair : wanted) {
      ++degree[pair.row];
      ++degree[pair.col];
    }
    CHECK(counts.kept == wanted.size());
    CHECK(counts.degree == degree);
    std::vector<std::uint64_t> histogram(20);
    for (const gpu::edge& e : edges.edges) {
      ++histogram[static_cast<std::size_t>(std::min(19.0, std::floor((e.statistic + 1) * 10)))];
    }
    CHECK(counts.histogram == histogram);
  }
}

inline void cosine_partners_are_the_best(const pair_target& target) {
  GPU_TEST_INFO(target);
  const auto data = mixed_rows(90, 41, 12);
  const auto edges = gpu::cosine_all_pairs(data.view(), target.options(), gpu::edge_sink{}).edges;
  for (const auto order : {gpu::neighbor_order::by_value, gpu::neighbor_order::by_absolute_value}) {
    const auto got = gpu::cosine_all_pairs(data.view(), target.options(),
                                           gpu::top_k_sink{.k = 4, .order = order});
    std::size_t wrong = 0;
    for (gpu::node_id i = 0; i < 90; ++i) {
      std::vector<std::pair<double, gpu::node_id>> best;
      for (const gpu::edge& e : edges) {
        const double key =
            order == gpu::neighbor_order::by_value ? e.statistic : std::abs(e.statistic);
        if (e.row == i) best.emplace_back(-key, e.col);
        if (e.col == i) best.emplace_back(-key, e.row);
      }
      std::sort(best.begin(), best.end());
      wrong += got.count[i] != std::min<std::size_t>(4, best.size());
      for (gpu::node_id k = 0; k < got.count[i]; ++k) {
        wrong += got.index(i, k) != best[k].second;
      }
    }
    CHECK(wrong == 0);
  }
}

/// x against y, prepared rows and parts give the pairs of the whole.
inline void cosine_doors_agree(const pair_target& target) {
  GPU_TEST_INFO(target);
  const auto both = mixed_rows(120, 33, 13);
  const gpu::matrix_view<const float> x(both.data(), 50, 33);
  const gpu::matrix_view<const float> y(both.data() + 50 * 33, 70, 33);
  const gpu::edge_sink sink{.keep = {.min_abs = 0.3}};
  const auto all = gpu::cosine_all_pairs(both.view(), target.options(), sink).edges;
  std::vector<gpu::edge> wanted;
  for (const gpu::edge& e : all) {
    if (e.row < 50 && e.col >= 50) wanted.push_back({e.row, e.col - 50, e.statistic, 0});
  }
  const auto same = [&](std::span<const gpu::edge> got) {
    REQUIRE(got.size() == wanted.size());
    std::size_t wrong = 0;
    for (std::size_t e = 0; e < got.size(); ++e) {
      wrong += got[e].row != wanted[e].row || got[e].col != wanted[e].col ||
               got[e].statistic != wanted[e].statistic;
    }
    CHECK(wrong == 0);
  };
  CHECK(wanted.size() > 100);
  same(gpu::cosine_all_pairs(x, y, target.options(), sink).edges);
  const auto prepared = gpu::prepare_rows(gpu::measure::cosine, y, target.options());
  CHECK(prepared.what() == gpu::measure::cosine);
  same(gpu::all_pairs(gpu::measure::cosine, x, prepared, target.options(), sink).edges);
  CHECK_THROWS_AS(gpu::pearson_all_pairs(x, prepared, target.options(), sink),
                  gpu::invalid_argument);

  std::vector<gpu::edge> joined;
  for (gpu::index_t part = 0; part < 5; ++part) {
    gpu::pair_options options = target.options();
    options.part = {.index = part, .of = 5};
    const auto some = gpu::cosine_all_pairs(both.view(), options, sink).edges;
    joined.insert(joined.end(), some.begin(), some.end());
  }
  REQUIRE(joined.size() == all.size());
  std::size_t wrong = 0;
  for (std::size_t e = 0; e < joined.size(); ++e) {
    wrong += joined[e].row != all[e].row || joined[e].col != all[e].col ||
             joined[e].statistic != all[e].statistic;
  }
  CHECK(wrong == 0);
}

inline void cosine_knows_what_has_no_statistic(const pair_target& target) {
  GPU_TEST_INFO(target);
  auto data = random_matrix<double>(12, 9, 3);
  for (gpu::index_t k = 0; k < 9; ++k) {
    data(4, k) = 0;
    data(5, k) = k == 8 ? 5e-324 : 0.0;  // the least row that is not zero
    data(6, k) = 1e308;                  // its square overflows
    data(7, k) = -0.0;
  }
  data(8, 2) = std::numeric_limits<double>::infinity();
  const auto got = gpu::cosine_all_pairs(data.view(), target.options(), gpu::edge_sink{});
  CHECK(got.summary.constant_rows == std::vector<gpu::index_t>{4, 7});
  CHECK(got.summary.infinite_rows == std::vector<gpu::index_t>{8});
  CHECK(got.edges.size() == 9 * 8 / 2);
  const auto fifth = std::find_if(got.edges.begin(), got.edges.end(),
                                  [](const gpu::edge& e) { return e.row == 5 && e.col == 6; });
  REQUIRE(fifth != got.edges.end());
  CHECK(fifth->statistic == Approx(1.0 / 3.0).epsilon(1e-14));

  data(3, 3) = std::numeric_limits<double>::quiet_NaN();
  CHECK_THROWS_AS(gpu::cosine_all_pairs(data.view(), target.options(), gpu::count_sink{}),
                  gpu::invalid_argument);
  gpu::pair_options propagate = target.options();
  propagate.nans = gpu::nan_policy::propagate;
  const auto left = gpu::cosine_all_pairs(data.view(), propagate, gpu::count_sink{});
  CHECK(left.summary.nan_rows == std::vector<gpu::index_t>{3});
  CHECK(left.tested == 8 * 7 / 2);
}

inline void cosine_has_no_p(const pair_target& target) {
  GPU_TEST_INFO(target);
  const auto data = random_matrix<float>(8, 6, 4);
  const auto refused = [&](const auto& sink) {
    CHECK_THROWS_AS(gpu::cosine_all_pairs(data.view(), target.options(), sink), gpu::unsupported);
  };
  refused(gpu::edge_sink{.keep = {.max_p = 0.05}});
  refused(gpu::count_sink{.keep = {.max_p = 0.05}});
  refused(gpu::top_k_sink{.keep = {.max_p = 0.05}});
  refused(gpu::edge_sink{.keep = {.adjust = gpu::adjustment::bonferroni}});
  refused(gpu::discovery_sink{.keep = {.max_p = 0.05}});
  CHECK_THROWS_AS(gpu::plan_all_pairs(gpu::measure::cosine, data.view(), target.options(),
                                      gpu::pair_filter{.max_p = 0.05}),
                  gpu::unsupported);
  gpu::pair_options folding = target.options();
  folding.fold = gpu::row_folding::always;
  CHECK_THROWS_AS(gpu::cosine_all_pairs(data.view(), folding, gpu::count_sink{}), gpu::unsupported);
  const gpu::matrix_view<const float> none(data.data(), 4, 0, 6);
  CHECK_THROWS_AS(gpu::cosine_all_pairs(none, target.options(), gpu::dense_sink{}),
                  gpu::invalid_argument);
}

inline void run_cosine_cases(const pair_target& target) {
  SECTION("dense equals the oracle") {
    cosine_dense_equals_the_oracle(target);
  }
  SECTION("the sinks equal the oracle") {
    cosine_sinks_equal_the_oracle(target, 97, 30);
    cosine_sinks_equal_the_oracle(target, 60, 211);
    cosine_sinks_equal_the_oracle(target, 20, 2);
  }
  SECTION("partners are the best") {
    cosine_partners_are_the_best(target);
  }
  SECTION("x against y, prepared rows and parts agree with the whole") {
    cosine_doors_agree(target);
  }
  SECTION("rows without a statistic") {
    cosine_knows_what_has_no_statistic(target);
  }
  SECTION("there is no p") {
    cosine_has_no_p(target);
  }
}

/// The edges of a large strict job, which is screened, are those of `reference`, bit for bit.
inline void cosine_edges_equal_those_of(const pair_target& reference, const pair_target& target,
                                        gpu::index_t rows) {
  for (const gpu::index_t cols : {30, 64, 300}) {
    const auto data = mixed_rows(rows, cols, static_cast<std::uint64_t>(cols));
    for (const double min_abs : {0.95, 0.9, 0.8}) {
      INFO(cols << " columns, min_abs " << min_abs);
      const gpu::edge_sink sink{.keep = {.min_abs = min_abs}};
      const auto wanted = gpu::cosine_all_pairs(data.view(), reference.options(), sink);
      const auto got = gpu::cosine_all_pairs(data.view(), target.options(), sink);
      CHECK(got.summary.checksum == wanted.summary.checksum);
      CHECK(got.edges.size() == wanted.edges.size());
      const gpu::count_sink counting{.keep = {.min_abs = min_abs}};
      CHECK(gpu::cosine_all_pairs(data.view(), target.options(), counting).degree ==
            gpu::cosine_all_pairs(data.view(), reference.options(), counting).degree);
    }
  }
}

}  // namespace gpu_test
