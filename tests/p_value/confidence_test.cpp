#include <gpu/p_value.hpp>

#include <cmath>
#include <cstddef>
#include <limits>
#include <span>
#include <vector>

#include <gpu/all_pairs.hpp>
#include <gpu/error.hpp>

#include "support/catch.hpp"

using gpu::confidence_bounds;
using gpu::confidence_interval;
using gpu::measure;
using gpu::tail;

namespace {

void check_bounds(const confidence_bounds& got, const confidence_bounds& wanted) {
  CHECK(std::abs(got.lower - wanted.lower) <= 4e-15);
  CHECK(std::abs(got.upper - wanted.upper) <= 4e-15);
}

constexpr double no_number = std::numeric_limits<double>::quiet_NaN();

}  // namespace

// R 4.2.2: tanh(atanh(r) -+ qnorm(1 - (1 - c) / 2) / sqrt(n - 3)).
TEST_CASE("Fisher's interval has the bounds of R's formula", "[p_value][confidence]") {
  for (const measure what : {measure::pearson, measure::bicor}) {
    check_bounds(confidence_interval(what, 0.5, 30), {0.17043136511180010, 0.72895855638835549});
    check_bounds(confidence_interval(what, -0.8, 12, 0.99),
                 {-0.96087728926390925, -0.23549813055538460});
    check_bounds(confidence_interval(what, 0.95, 10, 0.9),
                 {0.83670486115927223, 0.98531861190915593});
    check_bounds(confidence_interval(what, 0.25, 100'000),
                 {0.24418039138630546, 0.25580160165318572});
  }
}

// R 4.2.2: the error is sqrt((1 + r^2 / 2) / (n - 3)).
TEST_CASE("Spearman's interval is Bonett's and Wright's", "[p_value][confidence]") {
  constexpr measure rho = measure::spearman;
  check_bounds(confidence_interval(rho, 0.5, 30), {0.14813218339055431, 0.73950319491963445});
  check_bounds(confidence_interval(rho, -0.8, 12, 0.99),
               {-0.96957054112709928, -0.11167699397746855});
  check_bounds(confidence_interval(rho, 0.95, 10, 0.9), {0.79424872161489080, 0.98859860428080149});
  check_bounds(confidence_interval(rho, 0.25, 100'000), {0.24409001967893290, 0.25589141065651072});
  check_bounds(confidence_interval(rho, 0.5, 30, 0.95, tail::greater), {0.21036364990466414, 1});
}

// scipy 1.17.1, pearsonr(x, y, alternative).confidence_interval(level).
TEST_CASE("The intervals of edges are SciPy's", "[p_value][confidence]") {
  const std::vector<double> rows{1, 2, 3, 4, 5, 6, 7, 100, 2, 1, 4, 3, 7, 5, 9, 8};
  const auto edges =
      gpu::pearson_all_pairs(gpu::matrix_view<const double>(rows.data(), 2, 8), gpu::edge_sink{})
          .edges;
  REQUIRE(edges.size() == 1);
  const auto of = [&](double confidence, tail side) {
    const auto got = gpu::confidence_intervals(measure::pearson, std::span<const gpu::edge>(edges),
                                               8, confidence, side);
    REQUIRE(got.size() == 1);
    return got[0];
  };
  check_bounds(of(0.95, tail::two_sided), {-0.33835938542395233, 0.8855258387515104});
  check_bounds(of(0.99, tail::two_sided), {-0.5564402069874617, 0.9323705710984296});
  check_bounds(of(0.5, tail::two_sided), {0.21903563240144605, 0.6782817936750714});
  check_bounds(of(0.95, tail::greater), {-0.20822674227183732, 1});
  check_bounds(of(0.99, tail::greater), {-0.47467701403285323, 1});
  check_bounds(of(0.95, tail::less), {-1, 0.8510323494181571});
  check_bounds(of(0.5, tail::less), {-1, 0.48099956829343704});
}

TEST_CASE("Several intervals are those of each", "[p_value][confidence]") {
  const std::vector<double> statistics{0.5, -0.25, 0, no_number, 1, -1, 0.999};
  const auto got =
      gpu::confidence_intervals(measure::spearman, std::span<const double>(statistics), 40, 0.8);
  REQUIRE(got.size() == statistics.size());
  for (std::size_t i = 0; i < got.size(); ++i) {
    const auto wanted = confidence_interval(measure::spearman, statistics[i], 40, 0.8);
    if (std::isnan(statistics[i])) {
      CHECK(std::isnan(got[i].lower));
      CHECK(std::isnan(got[i].upper));
      continue;
    }
    CHECK(got[i] == wanted);
    CHECK(got[i].lower <= statistics[i]);
    CHECK(got[i].upper >= statistics[i]);
  }
}

TEST_CASE("Intervals at the ends of what is legal", "[p_value][confidence]") {
  for (const measure what : {measure::spearman, measure::pearson, measure::bicor}) {
    CHECK(confidence_interval(what, 0.9, 3) == confidence_bounds{-1, 1});
    CHECK(confidence_interval(what, 1, 3) == confidence_bounds{-1, 1});
    CHECK(confidence_interval(what, 1, 4) == confidence_bounds{1, 1});
    CHECK(confidence_interval(what, -1, 9) == confidence_bounds{-1, -1});
    CHECK(confidence_interval(what, -1, 9, 0.95, tail::greater) == confidence_bounds{-1, 1});
    const auto exact = confidence_interval(what, 0.5, 1'000'000'000'000'000);
    CHECK(exact.lower < 0.5);
    CHECK(exact.lower > 0.4999999);
    const auto nearly_all = confidence_interval(what, 0.5, 10, 1 - 0x1p-53);
    CHECK(nearly_all.lower < -0.9);
    CHECK(nearly_all.upper < 1);
    const auto nearly_none = confidence_interval(what, 0.5, 10, 1e-300);
    CHECK(nearly_none.lower == Approx(0.5).epsilon(1e-14));
    CHECK(nearly_none.upper == Approx(0.5).epsilon(1e-14));
  }
}

TEST_CASE("What has no interval is refused", "[p_value][confidence]") {
  CHECK_THROWS_AS(confidence_interval(measure::cosine, 0.5, 10), gpu::unsupported);
  CHECK_THROWS_AS(confidence_interval(measure::pearson, 1.5, 10), gpu::invalid_argument);
  CHECK_THROWS_AS(confidence_interval(measure::pearson, 0.5, 2), gpu::invalid_argument);
  CHECK_THROWS_AS(confidence_interval(static_cast<measure>(99), 0.5, 10), gpu::invalid_argument);
  for (const double level : {0.0, 1.0, -0.5, 95.0, no_number}) {
    CHECK_THROWS_AS(confidence_interval(measure::pearson, 0.5, 10, level), gpu::invalid_argument);
  }
  CHECK_THROWS_AS(confidence_interval(measure::pearson, 0.5, 10, 0.95, static_cast<tail>(7)),
                  gpu::invalid_argument);
}
