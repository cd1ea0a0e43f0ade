// A measure that the library does not have, described here: nothing but its descriptor tells the
// rest of the library what it is.
#include <algorithm>
#include <cmath>
#include <vector>

#include <gpu/all_pairs.hpp>
#include <gpu/error.hpp>
#include <gpu/pair_sinks.hpp>

#include "api/all_pairs_run.hpp"
#include "pairs/measures/measures.hpp"
#include "reference/correlation_reference.hpp"
#include "support/generators.hpp"
#include "support/pair_target.hpp"

namespace {

using gpu::detail::measure_traits;
using gpu::detail::pair_tables;
using gpu::detail::run_all_pairs;

// Ranks without a test and without folding, from two columns on.
const measure_traits toy{.info = {.what = gpu::measure{1000},
                                  .name = "toy",
                                  .title = "Toy",
                                  .description = "Order of values",
                                  .symbol = "t",
                                  .test = gpu::significance::none,
                                  .scale = gpu::value_scale::ordinal,
                                  .equals = gpu::equal_rows::apart,
                                  .least_cols = 2,
                                  .most_cols = 1000},
                         .form = gpu::detail::row_form::ranks,
                         .centre = gpu::detail::row_centre::mean};

gpu::pair_options on_cpu() {
  gpu::pair_options out;
  out.exec.target = gpu::backend::cpu;
  return out;
}

}  // namespace

TEST_CASE("A measure of a descriptor alone has every sink", "[measure]") {
  for (const gpu::index_t cols : {2, 3, 17, 130}) {
    INFO(cols << " columns");
    const auto data = gpu_test::tied_matrix<std::int32_t>(40, cols, 3);
    const pair_tables tables{.x = gpu_test::const_view(data)};
    const auto wanted = gpu_test::reference_spearman(gpu_test::const_view(data));
    const auto pairs = gpu_test::reference_pairs(wanted);

    const auto dense = run_all_pairs(toy, tables, on_cpu(), gpu::dense_sink{});
    std::size_t wrong = 0;
    for (std::size_t i = 0; i < 40; ++i) {
      for (std::size_t j = 0; j < 40; ++j) {
        const double got = dense(static_cast<gpu::index_t>(i), static_cast<gpu::index_t>(j));
        wrong += std::isnan(wanted[i][j]) ? !std::isnan(got) : i != j && got != wanted[i][j];
      }
    }
    CHECK(wrong == 0);

    const auto edges =
        run_all_pairs(toy, tables, on_cpu(), gpu::edge_sink{.keep = {.min_abs = 0.5}});
    std::vector<gpu_test::reference_pair> strong;
    std::copy_if(pairs.begin(), pairs.end(), std::back_inserter(strong),
                 [](const auto& pair) { return std::abs(pair.statistic) >= 0.5; });
    REQUIRE(edges.edges.size() == strong.size());
    for (std::size_t e = 0; e < strong.size(); ++e) {
      wrong += edges.edges[e].row != strong[e].row || edges.edges[e].col != strong[e].col ||
               edges.edges[e].statistic != strong[e].statistic || !std::isnan(edges.edges[e].p);
    }
    CHECK(wrong == 0);
    CHECK(edges.summary.patterns == 0);

    const auto counts =
        run_all_pairs(toy, tables, on_cpu(), gpu::count_sink{.keep = {.min_abs = 0.5}});
    CHECK(counts.kept == strong.size());
    CHECK(counts.tested == pairs.size());
    const auto best = run_all_pairs(toy, tables, on_cpu(), gpu::top_k_sink{.k = 2});
    CHECK(best.summary.pairs_kept > 0);
  }
}

TEST_CASE("What a descriptor lacks is refused before any work", "[measure]") {
  const auto data = gpu_test::tied_matrix<std::int32_t>(10, 9, 3);
  const pair_tables tables{.x = gpu_test::const_view(data)};
  CHECK_THROWS_AS(run_all_pairs(toy, tables, on_cpu(), gpu::edge_sink{.keep = {.max_p = 0.01}}),
                  gpu::unsupported);
  CHECK_THROWS_AS(run_all_pairs(toy, tables, on_cpu(),
                                gpu::count_sink{.keep = {.adjust = gpu::adjustment::bonferroni}}),
                  gpu::unsupported);
  CHECK_THROWS_AS(run_all_pairs(toy, tables, on_cpu(), gpu::folded_edge_sink{}), gpu::unsupported);
  const pair_tables one_column{.x = gpu::matrix_view<const std::int32_t>(data.data(), 10, 1, 9)};
  CHECK_THROWS_AS(run_all_pairs(toy, one_column, on_cpu(), gpu::dense_sink{}),
                  gpu::invalid_argument);
}

TEST_CASE("Measures are found by their names", "[measure]") {
  for (const gpu::measure what : gpu::all_measures()) {
    CHECK(gpu::measure_of(gpu::to_string(what)) == what);
    CHECK(gpu::info_of(what).what == what);
    CHECK(gpu::info_of(what).least_cols >= 1);
  }
  CHECK_THROWS_AS(gpu::measure_of("Spearman"), gpu::invalid_argument);
  CHECK_THROWS_AS(gpu::info_of(gpu::measure{99}), gpu::invalid_argument);
  CHECK(gpu::to_string(gpu::measure{99}) == "unknown");
  const auto data = gpu_test::tied_matrix<std::int32_t>(4, 9, 3);
  CHECK_THROWS_AS(gpu::all_pairs(gpu::measure{99}, data.view()), gpu::invalid_argument);
}
