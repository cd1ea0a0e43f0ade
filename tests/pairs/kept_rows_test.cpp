// Rows of y prepared once: what they keep, and what is refused. That queries give what x against y
// gives: pair_ways_test.cpp.

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

}  // namespace

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
