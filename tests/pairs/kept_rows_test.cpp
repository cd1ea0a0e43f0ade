// Rows of y prepared once: every query gives what x against y gives, with all rows packed, in
// windows and in parts.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include <gpu/error.hpp>
#include <gpu/prepared_rows.hpp>

#include "support/area_cases.hpp"
#include "support/catch.hpp"
#include "support/refusals.hpp"
#include "support/sink_bytes.hpp"

namespace {

using gpu::index_t;
using gpu_test::check_refused;

gpu::pair_options cpu_options(gpu::pair_variant variant = gpu::pair_variant::automatic) {
  gpu::pair_options out;
  out.variant = variant;
  out.nans = gpu::nan_policy::propagate;
  out.exec.target = gpu::backend::cpu;
  out.exec.cpu_threads = 2;
  return out;
}

// query(options, sink) asks the prepared rows, plain(options, sink) x and y.
template <class Query, class Plain>
void queries_agree(const Query& query, const Plain& plain, const gpu::pair_options& options) {
  static const std::vector<gpu::pair_filter> filters{
      {.max_p = 1e-6},
      {.max_p = 0.03},
      {.max_p = 0.05, .adjust = gpu::adjustment::benjamini_hochberg}};
  const auto said = [&](const auto& run) {
    return gpu_test::what_sinks_say_by([&](const auto& sink) { return run(options, sink); },
                                       filters);
  };
  CHECK(gpu_test::first_difference(said(query), said(plain)) == "");
}

template <class X, class Y>
void prepared_rows_agree(index_t rows_of_x, index_t rows_of_y, index_t cols,
                         gpu::pair_variant variant) {
  INFO(rows_of_x << " against " << rows_of_y << " of " << cols);
  const auto x = gpu_test::area_rows<X>(rows_of_x, cols, 1);
  auto y = gpu_test::area_rows<Y>(rows_of_y, cols, 2);
  if constexpr (std::is_floating_point_v<Y>) {
    y(rows_of_y / 2, 1) = std::numeric_limits<Y>::quiet_NaN();
    y(rows_of_y / 3, 2) = std::numeric_limits<Y>::infinity();
  }
  gpu::pair_options options = cpu_options(variant);
  const auto spearman = gpu::prepare_rows(gpu::measure::spearman, y, options);
  const auto pearson = gpu::prepare_rows(gpu::measure::pearson, y, options);
  CHECK(spearman.rows() == rows_of_y);
  CHECK(spearman.cols() == cols);
  CHECK(spearman.where() == gpu::backend::cpu);
  const auto both = [&](const gpu::pair_options& how) {
    queries_agree(
        [&](const auto& o, const auto& sink) {
          return gpu::spearman_all_pairs(x, spearman, o, sink);
        },
        [&](const auto& o, const auto& sink) { return gpu::spearman_all_pairs(x, y, o, sink); },
        how);
    queries_agree(
        [&](const auto& o, const auto& sink) {
          return gpu::pearson_all_pairs(x, pearson, o, sink);
        },
        [&](const auto& o, const auto& sink) { return gpu::pearson_all_pairs(x, y, o, sink); },
        how);
  };
  both(options);
  options.exec.workspace_bytes = std::size_t{3} << 20;  // windows
  both(options);
}

}  // namespace

TEST_CASE("Queries of prepared rows give what x against y gives", "[prepared]") {
  prepared_rows_agree<std::int32_t, float>(40, 300, 30, gpu::pair_variant::automatic);
  prepared_rows_agree<float, std::int8_t>(1, 2500, 20, gpu::pair_variant::automatic);
  prepared_rows_agree<double, std::uint16_t>(130, 70, 150, gpu::pair_variant::automatic);
  prepared_rows_agree<std::int8_t, double>(3, 5000, 130, gpu::pair_variant::automatic);
  prepared_rows_agree<std::int16_t, std::int32_t>(30, 40, 30, gpu::pair_variant::naive);
}

TEST_CASE("Prepared rows outlive their table and are shared", "[prepared]") {
  const auto x = gpu_test::area_rows<float>(20, 30, 3);
  const auto y = gpu_test::area_rows<float>(50, 30, 4);
  const auto wanted = gpu::spearman_all_pairs(x, y, cpu_options(), gpu::top_k_sink{.k = 3});
  const auto make = [&] {
    const gpu::matrix<float> gone = y.clone();
    return gpu::prepare_rows(gpu::measure::spearman, gone, cpu_options());
  };
  const gpu::prepared_rows first = make();
  const gpu::prepared_rows second = first;
  CHECK(first.table() == second.table());
  CHECK(gpu::spearman_all_pairs(x, second, gpu::top_k_sink{.k = 3}).summary.checksum ==
        wanted.summary.checksum);
}

TEST_CASE("Queries that do not fit prepared rows are refused", "[prepared]") {
  const auto x = gpu_test::area_rows<float>(5, 30, 5);
  const auto narrow = gpu_test::area_rows<float>(5, 29, 6);
  const auto y = gpu::prepare_rows(gpu::measure::pearson, x, cpu_options());
  check_refused([&] { (void)gpu::spearman_all_pairs(x, y, gpu::edge_sink{}); },
                "y: was prepared for pearson, the call is of spearman");
  check_refused([&] { (void)gpu::pearson_all_pairs(narrow, y, gpu::edge_sink{}); },
                "y: got 30 columns, expected 29 as in x");
  check_refused(
      [&] {
        (void)gpu::pearson_all_pairs(x, y, cpu_options(gpu::pair_variant::naive), gpu::edge_sink{});
      },
      "options.variant: got naive, y was prepared for tiled");
  auto with_nan = gpu_test::random_matrix<double>(4, 9, 7);
  with_nan(2, 3) = std::nan("");
  gpu::pair_options strict = cpu_options();
  strict.nans = gpu::nan_policy::reject;
  check_refused([&] { (void)gpu::prepare_rows(gpu::measure::spearman, with_nan, strict); },
                "data: got NaN at row 2, column 3");
}
