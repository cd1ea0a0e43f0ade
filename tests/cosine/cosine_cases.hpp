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
  SECTION("rows without a statistic") {
    cosine_knows_what_has_no_statistic(target);
  }
  SECTION("there is no p") {
    cosine_has_no_p(target);
  }
}

}  // namespace gpu_test
