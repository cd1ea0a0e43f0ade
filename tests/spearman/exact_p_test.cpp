// The test of Spearman's rho by permutations: p itself.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include <gpu/error.hpp>
#include <gpu/observations.hpp>
#include <gpu/p_value.hpp>
#include <gpu/pair_options.hpp>

#include "reference/permutation_reference.hpp"
#include "support/catch.hpp"
#include "support/cpu_targets.hpp"

namespace {

using gpu_test::all_sides;

double p_of_sum(std::int64_t sum, gpu::index_t n, gpu::tail side) {
  const auto scale = static_cast<double>(n * (n * n - 1));
  return gpu::spearman_p_value(1 - 6 * static_cast<double>(sum) / scale, n, {}, {}, side);
}

// S of so many observations, and p of both sides, of `greater` and of `less`, as R 4.2.2 gives
// them.
struct literal {
  gpu::index_t n;
  std::int64_t sum;
  std::array<double, 3> p;
};

// cor.test(x, y, method = "spearman", exact = TRUE)$p.value of rows whose statistic is S.
constexpr literal of_r[] = {
    {4, 4, {0.41666666666666669, 0.20833333333333334, 0.83333333333333337}},
    {4, 10, {1, 0.54166666666666663, 0.54166666666666663}},
    {7, 16, {0.088095238095238101, 0.044047619047619051, 0.96686507936507937}},
    {7, 90, {0.16666666666666666, 0.93055555555555558, 0.083333333333333329}},
    {9, 36, {0.043253968253968253, 0.021626984126984126, 0.98156690917107581}},
    {9, 144, {0.61340388007054669, 0.70952932098765431, 0.30670194003527335}},
    {10, 50, {0.031141095459568141, 0.015570547729784071, 0.98624294044440719}},
    {10, 124, {0.49155549734258386, 0.24577774867129193, 0.76516237489675454}},
    {10, 164, {1, 0.5, 0.51357941192818191}},
    {10, 264, {0.073119875039282731, 0.96676543125524161, 0.036559937519641365}},
    {12, 86, {0.014539311870507278, 0.0072696559352536392, 0.99335694323917645}},
    {12, 458, {0.042806868987576227, 0.97999897560567706, 0.021403434493788114}},
    {20, 400, {0.00084672503988587606, 0.00042336251994293803, 0.99959158991023556}},
    {20, 1330, {1, 0.50126806959646475, 0.50126806959646475}},
    {20, 2128, {0.0060802736241583142, 0.99703578287613193, 0.0030401368120791571}},
    {30, 1348, {2.7453348749848779e-05, 1.372667437492439e-05, 0.99998649192360278}},
    {30, 3372, {0.18242478355860806, 0.091212391779304028, 0.90918628864711704}},
    {50, 10412, {0.00026252329273359341, 0.0001312616463667967, 0.99986914088580237}},
    {50, 33320, {6.5192658837876598e-06, 0.99999675356287698, 3.2596329418938299e-06}},
    {100, 124988, {0.012306005285908087, 0.0061530026429540436, 0.99384913879975556}},
    {100, 199980, {0.046185200985020054, 0.97691404238243573, 0.023092600492510027}},
    {300, 3252888, {1.1992157845090287e-06, 5.9960789225451433e-07, 0.99999940041641711}},
    {1000, 150855128, {0.0026826911567796835, 0.0013413455783898417, 0.99865865610048665}},
    {1290, 335368012, {0.024460885589180328, 0.012230442794590164, 0.98776956358960255}},
    {1290, 309966302, {1.490878303238333e-06, 7.454391516191665e-07, 0.99999925456160466}}};

}  // namespace

TEST_CASE("p of Spearman of few observations is that of all permutations", "[spearman][p_value]") {
  for (const gpu::index_t n : {3, 4, 5, 6, 7, 8}) {
    const auto counts = gpu_test::permutations_by_sum(n);
    for (const auto& [sum, ignored] : counts) {
      for (const gpu::tail side : all_sides) {
        INFO(n << " observations, S " << sum << ", tail " << static_cast<int>(side));
        const auto wanted = static_cast<double>(gpu_test::permutation_p(counts, sum, side));
        CHECK(std::abs(p_of_sum(sum, n, side) - wanted) <= 1e-15 * wanted);
      }
    }
  }
}

TEST_CASE("p of Spearman is R's", "[spearman][p_value]") {
  for (const literal& own : of_r) {
    for (std::size_t s = 0; s < all_sides.size(); ++s) {
      INFO(own.n << " observations, S " << own.sum << ", tail " << s);
      CHECK(std::abs(p_of_sum(own.sum, own.n, all_sides[s]) - own.p[s]) <= 1e-12 * own.p[s]);
    }
  }
}

TEST_CASE("p of Spearman by permutations never grows with rho", "[spearman][p_value]") {
  for (const gpu::index_t n : {3, 5, 9, 10, 11, 14, 23, 30, 47, 100, 257, 700, 1290}) {
    INFO(n << " observations");
    const std::int64_t centre = n * (n * n - 1) / 6;
    const std::int64_t step = std::max<std::int64_t>(2, centre / 20'000 / 2 * 2);
    bool falls = true;
    bool is_symmetric = true;
    bool is_within = true;
    std::array<double, 3> last{0, 0, 2};
    for (std::int64_t sum = 0; sum <= 2 * centre; sum += step) {
      std::array<double, 3> p{};
      for (std::size_t s = 0; s < all_sides.size(); ++s) {
        p[s] = p_of_sum(sum, n, all_sides[s]);
        is_within &= p[s] >= 0 && p[s] <= 1;
      }
      if (sum <= centre) falls &= p[0] >= last[0];
      falls &= p[1] >= last[1] && p[2] <= last[2];
      is_symmetric &= p[1] == p_of_sum(2 * centre - sum, n, gpu::tail::less);
      is_symmetric &= p[0] == p_of_sum(2 * centre - sum, n, gpu::tail::two_sided);
      last = p;
    }
    CHECK(falls);
    CHECK(is_symmetric);
    CHECK(is_within);
  }
}

// Shares of permutations, counted by sets of values as in the library's table, but for more values;
// in R the series gives -0.00007, which is 0 there.
TEST_CASE("p of Spearman far out is near that of permutations", "[spearman][p_value]") {
  struct tail_value {
    gpu::index_t n;
    std::int64_t sum;
    double p;
  };
  for (const tail_value& own :
       {tail_value{10, 0, 2.7557319223985888e-07}, tail_value{10, 4, 1.0471781305114639e-05},
        tail_value{10, 12, 1.673e-04}, tail_value{12, 24, 4.195e-05}, tail_value{12, 40, 3.220e-04},
        tail_value{14, 32, 3.031e-06}}) {
    INFO(own.n << " observations, S " << own.sum);
    const double got = p_of_sum(own.sum, own.n, gpu::tail::greater);
    CHECK(got > own.p / 8);
    CHECK(got < own.p * 1.2);
  }
  for (const gpu::index_t n : {10, 20, 50, 130}) {
    CHECK(p_of_sum(0, n, gpu::tail::greater) >=
          0.999 * std::exp(-std::lgamma(static_cast<double>(n) + 1)));
  }
  // No step where t takes over from the series: between sums that are close so is log p.
  for (const gpu::index_t n : {20, 60, 400, 1290}) {
    INFO(n << " observations");
    const double all = static_cast<double>(n * (n * n - 1)) / 6;
    double last = 0.5;
    bool is_even = true;
    for (double rho = 0; rho < 0.8 && last > 1e-250;
         rho += 0.02 / std::sqrt(static_cast<double>(n))) {
      const double p = p_of_sum(std::llround(all * (1 - rho) / 2) * 2, n, gpu::tail::greater);
      is_even &= p > 0 && std::log(last) - std::log(p) < 0.05 + 0.03 * std::abs(std::log(p));
      last = p;
    }
    CHECK(is_even);
  }
}

namespace {

gpu::row_ties ties_of(const std::vector<int>& row) {
  return gpu::kendall_ties(
      gpu::matrix_view<const int>(row.data(), 1, static_cast<gpu::index_t>(row.size())))[0];
}

}  // namespace

TEST_CASE("The least p of ranks is the share of permutations that leave a row as it is",
          "[spearman][p_value]") {
  for (const gpu::index_t n : {3, 4, 5, 6, 7}) {
    for (const auto& row : gpu_test::rows_by_ties(n)) {
      const double share =
          static_cast<double>(gpu_test::permutations_alike(row)) / gpu_test::factorial(n);
      const gpu::row_ties ties = ties_of(row);
      INFO(n << " observations, " << ties.pairs << " tied pairs");
      for (const auto& [x, y] : {std::pair(ties, gpu::row_ties{}), std::pair(gpu::row_ties{}, ties),
                                 std::pair(ties, ties)}) {
        CHECK(gpu::least_rank_p(n, x, y) == std::min(1.0, 2 * share));
        CHECK(gpu::least_rank_p(n, x, y, gpu::tail::greater) == std::min(0.5, share));
      }
      // No p of two such rows is below it, and that of the extreme is it or Student's t.
      for (const gpu::tail side : all_sides) {
        const double least = gpu::least_rank_p(n, ties, ties, side);
        for (const double rho : {-1.0, -0.9, 0.0, 0.5, 1.0}) {
          CHECK(gpu::spearman_p_value(rho, n, ties, ties, side) >= least);
        }
        const double rho = side == gpu::tail::less ? -1.0 : 1.0;
        CHECK(gpu::spearman_p_value(rho, n, ties, ties, side) == least);
      }
    }
  }
}

TEST_CASE("Of 8 and 9 values the least p knows the sum of squares of ranks",
          "[spearman][p_value]") {
  for (const gpu::index_t n : {8, 9}) {
    int others = 0;
    for (const auto& row : gpu_test::rows_by_ties(n)) {
      double alike = 1;  // product of t!
      for (auto at = row.begin(); at != row.end();) {
        const auto end = std::find_if(at, row.end(), [&](int v) { return v != *at; });
        alike *= gpu_test::factorial(end - at);
        at = end;
      }
      const double share = std::min(1.0, 2 * alike / gpu_test::factorial(n));
      const double least = gpu::least_rank_p(n, ties_of(row));
      CHECK(least >= share);
      CHECK(least < 5 * share);
      others += least != share ? 1 : 0;
    }
    // Of 3 + 1s, 5 + 1s and 4 + 2 + 2 values, whose sums those of 2s, of 4s and of 3s are.
    CHECK(others == (n == 8 ? 6 + 4 : 7 + 5 + 12));
  }
}

TEST_CASE("The least p of ranks without ties is 2 / n!", "[spearman][p_value]") {
  // 2 / n! by Python's fractions.
  CHECK(gpu::least_rank_p(5) == 0.016666666666666666);
  CHECK(gpu::least_rank_p(10) == 5.511463844797178e-07);
  CHECK(gpu::least_rank_p(30) == Approx(7.539975257631811e-33).epsilon(1e-14));
  CHECK(gpu::least_rank_p(170) == Approx(2.755801935583541e-307).epsilon(1e-13));
  CHECK(gpu::least_rank_p(171) == 0);
  CHECK(gpu::least_rank_p(1'000'000) == 0);
  const gpu::row_ties one{.pairs = 1};
  CHECK(gpu::least_rank_p(10, one, one) == gpu::least_rank_p(10));
  CHECK_THROWS_AS(gpu::least_rank_p(2), gpu::invalid_argument);
  for (const gpu::index_t n : {3, 5, 9, 10, 30, 100, 171, 5000}) {
    INFO(n << " observations");
    // t of Spearman is finite, and its p is the least.
    const double t = gpu::t_value_of(gpu::measure::spearman, 1.0, n);
    CHECK(std::isfinite(t));
    CHECK(gpu::t_value_of(gpu::measure::spearman, -1.0, n) == -t);
    CHECK(gpu::t_value_of(gpu::measure::spearman, 0.25, n) == gpu::correlation_t(0.25, n));
    CHECK(std::isinf(gpu::t_value_of(gpu::measure::pearson, 1.0, n)));
    CHECK(gpu::p_value_of(gpu::measure::spearman, 1.0, n) == gpu::least_rank_p(n));
    CHECK(gpu::p_value_of(gpu::measure::spearman, 0.25, n) == gpu::correlation_p_value(0.25, n));
    const auto degrees = static_cast<double>(n - 2);
    const double r = t / std::sqrt(degrees + t * t);
    if (n < 50) {
      CHECK(gpu::correlation_p_value(r, n) == Approx(gpu::least_rank_p(n)).epsilon(1e-6));
    }
  }
}

TEST_CASE("The test that a call takes", "[spearman][p_value]") {
  using gpu::significance;
  const auto of = [](gpu::measure what, gpu::index_t cols, const gpu::pair_options& options) {
    return gpu::test_of(what, cols, options);
  };
  const gpu::measure rho = gpu::measure::spearman;
  CHECK(of(rho, 9, {}) == significance::permutations);
  CHECK(of(rho, 10, {}) == significance::floored_t);
  CHECK(of(rho, 5, {.nans = gpu::nan_policy::pairwise}) == significance::floored_t);
  CHECK(of(rho, 5, {.p_method = gpu::p_method::t}) == significance::student_t);
  CHECK(of(rho, 5, {.effective_observations = 4}) == significance::student_t);
  CHECK(of(rho, 50, {.effective_observations = 4}) == significance::student_t);
  CHECK(of(rho, 50, {.p_method = gpu::p_method::exact}) == significance::permutations);
  CHECK(of(gpu::measure::pearson, 5, {}) == significance::student_t);
  CHECK(of(gpu::measure::kendall, 5, {}) == significance::kendall);
  CHECK(of(gpu::measure::cosine, 5, {}) == significance::none);
  CHECK(gpu::to_string(significance::floored_t) == "floored_t");
}

TEST_CASE("p of Spearman with ties and of many observations is that of t", "[spearman][p_value]") {
  const gpu::row_ties one{.pairs = 1};
  for (const gpu::tail side : all_sides) {
    for (const double rho : {-0.9, -0.4, 0.0, 0.25, 0.9}) {
      CHECK(gpu::spearman_p_value(rho, 20, one, {}, side) ==
            gpu::correlation_p_value(rho, 20, side));
      CHECK(gpu::spearman_p_value(rho, 20, {}, one, side) ==
            gpu::correlation_p_value(rho, 20, side));
      CHECK(gpu::spearman_p_value(rho, 1291, {}, {}, side) ==
            gpu::correlation_p_value(rho, 1291, side));
    }
    CHECK(gpu::spearman_p_value(0.05, 1290, {}, {}, side) !=
          gpu::correlation_p_value(0.05, 1290, side));
  }
  CHECK(std::isnan(gpu::spearman_p_value(std::numeric_limits<double>::quiet_NaN(), 8)));
  CHECK_THROWS_AS(gpu::spearman_p_value(0.5, 2), gpu::invalid_argument);
  CHECK_THROWS_AS(gpu::spearman_p_value(1.5, 10), gpu::invalid_argument);
}
