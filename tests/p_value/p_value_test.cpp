#include <gpu/p_value.hpp>

#include <cmath>
#include <limits>
#include <vector>

#include <gpu/all_pairs.hpp>
#include <gpu/error.hpp>

#include "reference/correlation_reference.hpp"
#include "support/catch.hpp"

using gpu::correlation_p_value;
using gpu::critical_correlation;
using gpu::tail;

TEST_CASE("p equals the incomplete beta function to forty digits", "[p_value]") {
  struct literal {
    double r;
    gpu::index_t observations;
    double p;
  };
  // mpmath.betainc((n - 2) / 2, 1 / 2, 0, (1 - r) (1 + r), regularized=True) at 40 digits.
  const std::vector<literal> literals{
      {0.5, 3, 0.66666666666666667},          {0.99999, 3, 0.0028470525462093793},
      {1e-09, 30, 0.99999999581551254},       {0.01, 30, 0.95817325163247346},
      {0.3, 30, 0.10724594805795436},         {0.361, 30, 0.050004705745366593},
      {0.5, 30, 0.0048999336670680904},       {0.9503, 30, 1.0127253710150053e-15},
      {0.999999, 30, 2.4485080958736875e-81}, {0.05, 1000, 0.11407259555107295},
      {0.3, 1000, 3.0374833803511221e-22},    {0.01, 100000, 0.0015651897452783153},
      {0.05, 100000, 2.2261912329063711e-56}, {0.2, 100000, 0.0}};
  for (const literal& l : literals) {
    INFO("r " << l.r << ", observations " << l.observations);
    CHECK(correlation_p_value(l.r, l.observations) == Approx(l.p).epsilon(1e-12));
    CHECK(correlation_p_value(-l.r, l.observations) == correlation_p_value(l.r, l.observations));
  }
}

TEST_CASE("p equals the long double series", "[p_value]") {
  for (const gpu::index_t observations : {3, 4, 5, 10, 30, 31, 100, 1000}) {
    for (double r = -0.995; r < 1; r += 0.01) {
      for (const tail side : {tail::two_sided, tail::greater, tail::less}) {
        const double p = correlation_p_value(r, observations, side);
        CHECK(p ==
              Approx(gpu_test::reference_p(r, observations, side)).epsilon(1e-11).margin(1e-300));
      }
    }
  }
}

TEST_CASE("The ends of the range", "[p_value]") {
  for (const gpu::index_t observations : {3, 30, 100000}) {
    CHECK(correlation_p_value(1.0, observations) == 0.0);
    CHECK(correlation_p_value(-1.0, observations) == 0.0);
    CHECK(correlation_p_value(0.0, observations) == 1.0);
    CHECK(correlation_p_value(0.0, observations, tail::greater) == 0.5);
    CHECK(correlation_p_value(-1.0, observations, tail::greater) == 1.0);
    CHECK(correlation_p_value(1.0, observations, tail::greater) == 0.0);
    CHECK(correlation_p_value(-1.0, observations, tail::less) == 0.0);
    CHECK(std::isinf(gpu::correlation_t(1.0, observations)));
    CHECK(gpu::correlation_t(-1.0, observations) < 0);
    CHECK(critical_correlation(1.0, observations) == 0.0);
    CHECK(critical_correlation(1.0, observations, tail::greater) == -1.0);
    CHECK(critical_correlation(1.0, observations, tail::less) == 1.0);
  }
  CHECK(std::isnan(correlation_p_value(std::numeric_limits<double>::quiet_NaN(), 10)));
  CHECK(gpu::correlation_t(0.5, 30) == Approx(0.5 * std::sqrt(28 / 0.75)).epsilon(1e-15));
}

TEST_CASE("The critical correlation is the weakest that reaches p", "[p_value]") {
  for (const gpu::index_t observations : {3, 5, 30, 38, 1000, 100000}) {
    for (const double p : {1e-300, 1e-30, 1e-6, 0.001, 0.05, 0.3, 0.5, 0.7, 0.999}) {
      for (const tail side : {tail::two_sided, tail::greater, tail::less}) {
        INFO("observations " << observations << ", p " << p << ", tail " << static_cast<int>(side));
        const double c = critical_correlation(p, observations, side);
        CHECK(correlation_p_value(c, observations, side) <= p);
        const double weaker = std::nextafter(c, side == tail::less ? 2.0 : -2.0);
        if (std::abs(weaker) <= 1) CHECK(correlation_p_value(weaker, observations, side) > p);
      }
    }
  }
}

TEST_CASE("p and the critical correlation invert each other", "[p_value]") {
  for (const gpu::index_t observations : {4, 30, 500}) {
    for (double r = 0.01; r < 1; r += 0.0173) {
      const double p = correlation_p_value(r, observations);
      if (p < 1e-300) continue;
      const double c = critical_correlation(p, observations);
      CHECK(c <= r);
      CHECK(c == Approx(r).epsilon(1e-12));
    }
  }
}

TEST_CASE("A kept edge has a p of at most max_p", "[p_value]") {
  // Its p once was one unit in the last place above the cut that kept it.
  const std::vector<int> rows{0, 1, 2, 3, 4, 5, 0, 2, 4, 5, 3, 1};
  const gpu::matrix_view<const int> data(rows.data(), 2, 6);
  const auto kept = [&](double max_p, tail side) {
    return gpu::spearman_all_pairs(data, {.p_method = gpu::p_method::t},
                                   gpu::edge_sink{.keep = {.max_p = max_p, .side = side}});
  };
  for (const tail side : {tail::two_sided, tail::greater, tail::less}) {
    const double p = kept(1.0, side).edges[0].p;
    CHECK(kept(p, side).edges.size() == 1);
    CHECK(kept(std::nextafter(p, 0.0), side).edges.empty());
    for (double cut = 0.622787172011660; cut < 0.622787172011664; cut = std::nextafter(cut, 1.0)) {
      for (const gpu::edge& e : kept(cut, side).edges) CHECK(e.p <= cut);
    }
  }
  CHECK(kept(1.0, tail::two_sided).edges[0].p == Approx(0.622787172011662).epsilon(1e-13));
}

TEST_CASE("The digits of p at few observations and far in the tail", "[p_value]") {
  // 1 - 2 / pi asin(r).
  CHECK(correlation_p_value(9e-9, 3) == Approx(0.99999999427042204).epsilon(1e-15));
  // mpmath.betainc at 60 digits; doubles below 2e-308 have fewer digits.
  CHECK(correlation_p_value(0.021784268327424177, 3'000'000) ==
        Approx(1.2801506283e-311).epsilon(1e-9));
  CHECK(correlation_p_value(0.02213323962081967, 3'000'000) > 0);
  CHECK_THROWS_AS(correlation_p_value(0.5, 2'000'000'000'000'000), gpu::invalid_argument);
}

TEST_CASE("Arguments outside their range are refused", "[p_value]") {
  CHECK_THROWS_AS(correlation_p_value(0.5, 2), gpu::invalid_argument);
  CHECK_THROWS_AS(correlation_p_value(1.1, 30), gpu::invalid_argument);
  CHECK_THROWS_AS(gpu::correlation_t(-1.1, 30), gpu::invalid_argument);
  CHECK_THROWS_AS(critical_correlation(0.0, 30), gpu::invalid_argument);
  CHECK_THROWS_AS(critical_correlation(1.1, 30), gpu::invalid_argument);
  CHECK_THROWS_AS(critical_correlation(0.05, 1), gpu::invalid_argument);
}

TEST_CASE("p of many statistics are those of each", "[p_value]") {
  std::vector<double> r(10'000);
  for (std::size_t i = 0; i < r.size(); ++i) r[i] = -1 + 2 * static_cast<double>(i) / 9999;
  r[17] = std::nan("");
  std::vector<double> out(r.size());
  for (const gpu::measure what : {gpu::measure::spearman, gpu::measure::pearson}) {
    gpu::p_values_of(what, r, 12.5, gpu::tail::less, out, {.cpu_threads = 2});
    std::size_t wrong = 0;
    for (std::size_t i = 0; i < r.size(); ++i) {
      const double expected = gpu::p_value_of(what, r[i], 12.5, gpu::tail::less);
      if (out[i] != expected && !(std::isnan(out[i]) && std::isnan(expected))) ++wrong;
    }
    CHECK(wrong == 0);
  }
  const std::span<double> few = std::span(out).first(5);
  const auto both = gpu::tail::two_sided;
  CHECK_THROWS_AS(gpu::p_values_of(gpu::measure::pearson, r, 30, both, few), gpu::invalid_argument);
  CHECK_THROWS_AS(gpu::p_values_of(gpu::measure::kendall, r, 30, both, out), gpu::unsupported);
  CHECK_THROWS_AS(gpu::p_values_of(gpu::measure::pearson, r, 2, both, out), gpu::invalid_argument);
  r[9000] = 1.5;
  out.assign(out.size(), 7.0);
  CHECK_THROWS_AS(gpu::p_values_of(gpu::measure::pearson, r, 30, both, out), gpu::invalid_argument);
  CHECK(out.front() == 7.0);
}
