#include <gpu/p_value.hpp>

#include <cmath>
#include <limits>
#include <vector>

#include <gpu/all_pairs.hpp>
#include <gpu/error.hpp>

#include "support/catch.hpp"

using gpu::adjusted_p_values;
using gpu::adjustment;

namespace {

void check_equal(const std::vector<double>& got, const std::vector<double>& expected) {
  REQUIRE(got.size() == expected.size());
  for (std::size_t i = 0; i < got.size(); ++i) CHECK(got[i] == Approx(expected[i]).epsilon(1e-14));
}

const std::vector<double> some_p{0.01, 0.04, 0.03, 0.005, 0.2, 0.04};

/// 60 rows of 20: the first 20 move together.
gpu::matrix<double> grouped_rows() {
  gpu::matrix<double> x(60, 20);
  std::uint64_t state = 7;
  const auto draw = [&] {
    state = state * 6364136223846793005U + 1442695040888963407U;
    return static_cast<double>(state >> 40);
  };
  for (gpu::index_t j = 0; j < x.cols(); ++j) {
    const double common = draw();
    for (gpu::index_t i = 0; i < x.rows(); ++i) x(i, j) = draw() + (i < 20 ? 3 * common : 0.0);
  }
  return x;
}

}  // namespace

TEST_CASE("Adjusted p are those of R's p.adjust", "[p_value][adjusted]") {
  // p.adjust(p, "BH", n = 50), p.adjust(p, "bonferroni", n = 50), p.adjust(p, "BH")
  check_equal(adjusted_p_values(some_p, 50, adjustment::benjamini_hochberg),
              {0.25, 0.4, 0.4, 0.25, 1.0, 0.4});
  check_equal(adjusted_p_values(some_p, 50, adjustment::bonferroni), {0.5, 1, 1, 0.25, 1, 1});
  check_equal(adjusted_p_values(some_p, 6, adjustment::benjamini_hochberg),
              {0.03, 0.048, 0.048, 0.03, 0.2, 0.048});
  check_equal(adjusted_p_values(some_p, 50, adjustment::none), some_p);
  CHECK(adjusted_p_values(std::vector<double>{}, 0, adjustment::benjamini_hochberg).empty());
}

TEST_CASE("NaN has no rank among the p", "[p_value][adjusted]") {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  for (const auto how : {adjustment::bonferroni, adjustment::benjamini_hochberg}) {
    const auto q = adjusted_p_values(std::vector<double>{nan, 0.01, nan}, 4, how);
    CHECK(std::isnan(q[0]));
    CHECK(q[1] == 0.04);
    CHECK(std::isnan(q[2]));
  }
}

TEST_CASE("The q of kept edges are those of the whole family", "[p_value][adjusted]") {
  const auto x = grouped_rows();
  const auto all = gpu::spearman_all_pairs(x, {}, gpu::edge_sink{});
  for (const auto how : {adjustment::bonferroni, adjustment::benjamini_hochberg}) {
    const auto expected = adjusted_p_values(all.edges, all.summary.pairs_tested, how);
    for (const double max_p : {0.001, 0.05, 0.5}) {
      const gpu::edge_sink kept{.keep = {.max_p = max_p, .adjust = how}};
      const auto got = gpu::spearman_all_pairs(x, {}, kept);
      const auto q = adjusted_p_values(got.edges, got.summary.pairs_tested, how);
      std::vector<double> wanted;
      for (std::size_t e = 0; e < expected.size(); ++e) {
        if (expected[e] <= max_p) wanted.push_back(expected[e]);
      }
      CHECK(wanted.size() > 0);
      CHECK(wanted.size() < expected.size());
      CHECK(q == wanted);
    }
  }
}

TEST_CASE("What is no p or no family is refused", "[p_value][adjusted]") {
  CHECK_THROWS_AS(adjusted_p_values(some_p, 5, adjustment::bonferroni), gpu::invalid_argument);
  CHECK_THROWS_AS(adjusted_p_values(std::vector<double>{1.5}, 5, adjustment::bonferroni),
                  gpu::invalid_argument);
  CHECK_THROWS_AS(adjusted_p_values(some_p, 6, static_cast<adjustment>(9)), gpu::invalid_argument);
}
