#include <gpu/p_value.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "missing/missing_cases.hpp"
#include "pairs/partner_q_cases.hpp"
#include "pearson/pearson_measure.hpp"
#include "spearman/spearman_measure.hpp"
#include "support/catch.hpp"
#include "support/cpu_targets.hpp"

namespace {

using namespace gpu_test;

using gpu_test::cpu_naive;
using gpu_test::cpu_tiled;

/// q of partners among rows with missing values, by the p that edges without a cut have; returns
/// how many there are.
std::uint64_t check_missing_q(gpu::measure what, const gpu::matrix<double>& x, gpu::tail side,
                              gpu::adjustment how) {
  const gpu::pair_options options = pairwise_options(cpu_tiled, 5);
  const auto edges = gpu::all_pairs(what, x, options, gpu::edge_sink{.keep = {.side = side}});
  std::vector<double> p;
  for (const gpu::edge& e : edges.edges) p.push_back(e.p);
  const std::vector<double> q = reference_q(p, how);
  const auto rows = static_cast<std::size_t>(x.rows());
  statistic_table wanted(rows, std::vector<double>(rows, std::nan("")));
  for (std::size_t e = 0; e < q.size(); ++e) {
    wanted[edges.edges[e].row][edges.edges[e].col] = q[e];
    wanted[edges.edges[e].col][edges.edges[e].row] = q[e];
  }
  std::uint64_t entries = 0;
  for (const double max_p : {0.2, 1.0}) {
    const gpu::top_k_sink sink{
        .k = 4,
        .keep = {.max_p = max_p, .min_abs = 0.4, .side = side, .adjust = how},
        .q = gpu::neighbor_q::exact};
    const auto got = gpu::all_pairs(what, x, options, sink);
    CHECK(got.summary.pairs_tested == p.size());
    entries += check_q(got, wanted, max_p);
  }
  return entries;
}

}  // namespace

TEST_CASE("Partners have the q of the textbook", "[p_value][adjusted][top_k]") {
  partners_have_the_q_of_the_textbook<spearman_measure>(cpu_tiled);
  partners_have_the_q_of_the_textbook<spearman_measure>(cpu_naive);
  partners_have_the_q_of_the_textbook<pearson_measure>(cpu_tiled);
}

TEST_CASE("Partners have the q of the edges", "[p_value][adjusted][top_k]") {
  q_of_many_pairs_is_that_of_the_edges<spearman_measure>(cpu_tiled);
  q_of_many_pairs_is_that_of_the_edges<pearson_measure>(cpu_tiled);
}

TEST_CASE("q of partners is refused where it is not known", "[p_value][adjusted][top_k]") {
  q_is_refused_where_it_is_not_known<spearman_measure>(cpu_tiled);
  q_is_refused_where_it_is_not_known<pearson_measure>(cpu_tiled);
}

TEST_CASE("Folded rows and prepared rows give the same q", "[p_value][adjusted][top_k]") {
  const auto few_patterns = tied_matrix<std::int32_t>(120, 5, 3);
  for (const auto fold : {gpu::row_folding::always, gpu::row_folding::never}) {
    gpu::pair_options options = cpu_tiled.options();
    options.fold = fold;
    q_equals_the_textbook<spearman_measure>(cpu_tiled, few_patterns, 0, options);
    q_equals_the_textbook<spearman_measure>(cpu_tiled, few_patterns, 50, options);
  }
  const auto x = area_rows<double>(20, 15, 1);
  const auto y = area_rows<double>(40, 15, 2);
  const gpu::top_k_sink sink{.k = 3,
                             .keep = {.max_p = 0.5, .adjust = gpu::adjustment::benjamini_hochberg},
                             .q = gpu::neighbor_q::exact};
  const auto got = gpu::spearman_all_pairs(x, gpu::prepare_rows(gpu::measure::spearman, y), sink);
  const auto wanted =
      reference_q_table(reference_block(reference_spearman(const_view(reference_stack(x, y))), 20),
                        true, 15, gpu::tail::two_sided, gpu::adjustment::benjamini_hochberg);
  CHECK(check_q(got, wanted, 0.5) > 0);
}

TEST_CASE("q of partners among rows with missing values", "[p_value][adjusted][missing]") {
  auto x = area_rows<double>(60, 24, 4);
  for (gpu::index_t i = 0; i < x.rows(); i += 2) {
    for (gpu::index_t k = i % 5; k < x.cols(); k += 4 + i % 3) {
      x(i, k) = std::numeric_limits<double>::quiet_NaN();
    }
  }
  for (const auto how : {gpu::adjustment::bonferroni, gpu::adjustment::benjamini_hochberg}) {
    std::uint64_t entries = 0;
    for (const gpu::tail side : {gpu::tail::two_sided, gpu::tail::greater, gpu::tail::less}) {
      entries += check_missing_q(gpu::measure::spearman, x, side, how);
      entries += check_missing_q(gpu::measure::kendall, x, side, how);
    }
    CHECK(entries > 50);
  }
}

// What a row shares with a partner is counted in the rows of y, not in those of x.
TEST_CASE("q of partners in y among rows with missing values", "[p_value][adjusted][missing]") {
  auto x = area_rows<double>(30, 24, 4);
  const auto complete = area_rows<double>(20, 24, 9);
  for (gpu::index_t i = 0; i < x.rows(); ++i) {
    for (gpu::index_t k = 0; k < x.cols(); ++k) x(i, k) += complete(i % 20, k);
    for (gpu::index_t k = i % 5; k < x.cols(); k += 3 + i % 3) x(i, k) = std::nan("");
  }
  const gpu::pair_options options = pairwise_options(cpu_tiled, 5);
  const auto how = gpu::adjustment::benjamini_hochberg;
  const auto edges = gpu::spearman_all_pairs(x, complete, options, gpu::edge_sink{});
  std::vector<double> p;
  for (const gpu::edge& e : edges.edges) {
    const auto values = static_cast<gpu::index_t>(std::count_if(
        x.row(e.row).begin(), x.row(e.row).end(), [](double value) { return value == value; }));
    p.push_back(gpu::correlation_p_value(e.statistic, values));
    CHECK(e.p == p.back());
  }
  const std::vector<double> q = reference_q(p, how);
  statistic_table wanted(30, std::vector<double>(20, std::nan("")));
  for (std::size_t e = 0; e < q.size(); ++e) {
    wanted[edges.edges[e].row][edges.edges[e].col] = q[e];
  }
  const gpu::top_k_sink sink{
      .k = 4, .keep = {.max_p = 1.0, .adjust = how}, .q = gpu::neighbor_q::exact};
  CHECK(check_q(gpu::spearman_all_pairs(x, complete, options, sink), wanted, 1.0) > 50);
}

TEST_CASE("Some p are adjusted among all tests", "[p_value][adjusted]") {
  // p.adjust(c(0.01, 0.04, 0.03, 0.005, 0.2, 0.04), "BH", n = 50)
  std::vector<double> tests{0.01, 0.04, 0.03, 0.005, 0.2, 0.04};
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const std::vector<double> p{0.03, nan, 0.005, 0.2, 0.03};
  const auto bh = gpu::adjustment::benjamini_hochberg;
  const auto q = gpu::adjusted_p_values(p, tests, 50, bh);
  CHECK(q[0] == Approx(0.4).epsilon(1e-14));
  CHECK(std::isnan(q[1]));
  CHECK(q[2] == Approx(0.25).epsilon(1e-14));
  CHECK(q[3] == 1.0);
  CHECK(q[4] == q[0]);
  CHECK(std::is_sorted(tests.begin(), tests.end()));
  CHECK(gpu::adjusted_p_values(p, {}, 50, gpu::adjustment::bonferroni)[2] == 0.25);
  CHECK(gpu::adjusted_p_values(p, {}, 0, gpu::adjustment::none)[0] == 0.03);
  CHECK_THROWS_AS(gpu::adjusted_p_values(p, tests, 5, bh), gpu::invalid_argument);
  std::vector<double> wrong{0.5, nan};
  CHECK_THROWS_AS(gpu::adjusted_p_values(p, wrong, 50, bh), gpu::invalid_argument);

  // Pieces of many threads, with values that repeat.
  std::vector<double> many(1'000'003);
  std::uint64_t state = 9;
  for (double& each : many) {
    state = state * 6364136223846793005U + 1442695040888963407U;
    each = static_cast<double>(state >> 44) / static_cast<double>(1U << 20);
  }
  std::vector<double> sorted = many;
  CHECK(gpu::adjusted_p_values(many, sorted, 2'000'000, bh) ==
        gpu::adjusted_p_values(many, 2'000'000, bh));
  CHECK(std::is_sorted(sorted.begin(), sorted.end()));
}
