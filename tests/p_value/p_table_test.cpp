// The table of polynomials behind every p.
#define BOOST_MATH_DISABLE_FLOAT128  // or the linker asks for libquadmath
#include <boost/math/special_functions/beta.hpp>
#include <boost/multiprecision/cpp_bin_float.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include "p_value/p_literals.hpp"
#include "stats/significance/p_table.hpp"
#include "stats/significance/significance.hpp"
#include "support/catch.hpp"

using gpu::tail;
using gpu::stats::p_function;
using gpu::stats::p_table;
using gpu::stats::p_table_for;

namespace {

constexpr double tolerance = 1e-14;
constexpr double smallest = std::numeric_limits<double>::denorm_min();

// In units of the tolerance; below 1e-300, where doubles run out of digits, of two last places.
double error_of(double p, double expected) {
  const double allowed =
      expected < 1e-300 ? std::max(tolerance * expected, 2 * smallest) : tolerance * expected;
  return std::abs(p - expected) / allowed;
}

double uniform(std::mt19937_64& generator) {
  return static_cast<double>(generator() >> 11) * 0x1p-53;
}

// An |r| whose p is anywhere between 1 and 1e-323: a third of them in the middle.
double some_correlation(std::mt19937_64& generator, double observations) {
  const double nu = observations - 2;
  const double u = uniform(generator);
  if (generator() % 3 == 0) return u * std::min(1.0, 3 / std::sqrt(nu));
  return std::sqrt(-std::expm1(-u * std::min(2 * 745 / nu, 36.5)));
}

std::vector<double> some_observations() {
  std::vector<double> out;
  for (double m = 3; m <= 40; ++m) out.push_back(m);
  for (double m = 43; m < 3e6; m *= 1.07) out.push_back(std::floor(m));
  out.insert(out.end(), {1e5, 3e6, 4e9, 1e15});
  // Effective ones need not be whole.
  for (double m = 3 + 0x1p-51; m < 3e6; m = (m - 2) * 1.17 + 2) out.push_back(m);
  return out;
}

std::uint16_t piece_of(const p_table& table, double r) {
  using namespace gpu::stats::p_arithmetic;
  const std::uint64_t bin = (bits_of_one - bits_of(1 - r * r)) >> table.shift;
  return table.piece_of_bin[std::min(bin, table.last_bin)];
}

// Steps through `count` doubles from r on; the number of times that p grew.
int times_p_grew(const p_table& table, double r, int count) {
  int grew = 0;
  double before = table.two_sided_p(r);
  for (int i = 0; i < count && r < 1; ++i) {
    r = std::nextafter(r, 2.0);
    const double p = table.two_sided_p(r);
    if (p > before) ++grew;
    before = p;
  }
  return grew;
}

double some_doubles_below(double r, int count) {
  for (int i = 0; i < count; ++i) r = std::nextafter(r, 0.0);
  return r;
}

}  // namespace

TEST_CASE("p equals literals of sixty digits", "[p_value]") {
  for (const gpu_test::p_literal& l : gpu_test::p_literals) {
    INFO("r " << l.r << ", observations " << l.observations << ", p " << l.p);
    const double p = p_table_for(l.observations)->two_sided_p(l.r);
    CHECK(error_of(p, l.p) <= 1);
    CHECK(p_table_for(l.observations)->two_sided_p(-l.r) == p);
  }
}

TEST_CASE("p equals Boost.Math in quadruple precision", "[p_value]") {
  using quad = boost::multiprecision::cpp_bin_float_quad;
  std::mt19937_64 generator(3);
  // Boost's quantities with 1 degree of freedom are those of an arc sine, with fewer digits.
  for (const double m :
       {4.0,   5.0,    6.0,      7.0,        8.0,    9.0,    10.0,   15.0,
        16.0,  20.0,   30.0,     31.0,       38.0,   39.0,   57.0,   64.0,
        100.0, 128.0,  129.0,    500.0,      1000.0, 1001.0, 9999.0, 30'000.0,
        1e5,   1e6,    3.25,     3.5,        4.1,    5.7,    12.9,   29.0 + 0x1p-40,
        84.73, 1000.5, 30'000.3, 1'000'000.9}) {
    const auto table = p_table_for(m);
    for (int i = 0; i < 60; ++i) {
      const double r = some_correlation(generator, m);
      if (r >= 1 - 1e-12) continue;
      const quad half_freedom = quad(m - 2) / 2;
      const quad x = (1 - quad(r)) * (1 + quad(r));
      const quad expected = r * r < 0.1
                                ? boost::math::ibetac(quad(0.5), half_freedom, quad(r) * quad(r))
                                : boost::math::ibeta(half_freedom, quad(0.5), x);
      INFO("r " << r << ", observations " << m);
      CHECK(error_of(table->two_sided_p(r), static_cast<double>(expected)) <= 1);
    }
  }
}

TEST_CASE("p never grows with the magnitude of r", "[p_value]") {
  std::mt19937_64 generator(4);
  for (const double m : some_observations()) {
    const auto table = p_table_for(m);
    INFO("observations " << m);
    int grew = times_p_grew(*table, some_doubles_below(table->grid_end, 30), 60);
    for (int k = 0; k + 1 < table->pieces_used; ++k) {
      // The border behind piece k.
      double within = table->pieces[k].centre;
      double beyond = 1;
      while (std::nextafter(within, 2.0) < beyond) {
        const double middle = within + (beyond - within) / 2;
        (piece_of(*table, middle) <= k ? within : beyond) = middle;
      }
      grew += times_p_grew(*table, some_doubles_below(within, 5), 11);
    }
    const double grid = table->grid_rounder * 0x1p-52;
    for (int i = 0; i < 200; ++i) {
      grew += times_p_grew(*table, some_correlation(generator, m), 30);
      const double r = std::floor(uniform(generator) * table->grid_end / grid) * grid;
      grew += table->two_sided_p(r + grid) >= table->two_sided_p(r) ? 1 : 0;
    }
    CHECK(grew == 0);
  }
}

TEST_CASE("The ends of a table", "[p_value]") {
  for (const double m : some_observations()) {
    const auto table = p_table_for(m);
    INFO("observations " << m);
    CHECK(table->pieces_used <= p_table::most_pieces);
    CHECK(table->last_bin < p_table::most_bins);
    CHECK(table->two_sided_p(0.0) == 1.0);
    CHECK(table->two_sided_p(-0.0) == 1.0);
    CHECK(table->two_sided_p(1.0) == 0.0);
    CHECK(table->two_sided_p(-1.0) == 0.0);
    for (const tail side : {tail::two_sided, tail::greater, tail::less}) {
      CHECK(std::isnan(p_function{table.get(), side}(std::numeric_limits<double>::quiet_NaN())));
    }
  }
  // 30 observations: the last double below 1 has p = 1.06e-220.
  CHECK(p_table_for(30)->two_sided_p(std::nextafter(1.0, 0.0)) > 1e-221);
}

TEST_CASE("The tails of one table", "[p_value]") {
  const auto table = p_table_for(30);
  for (double r = -1; r <= 1; r += 0.03125) {
    const double both = table->two_sided_p(r);
    const double greater = p_function{table.get(), tail::greater}(r);
    CHECK(greater == (r > 0 ? both / 2 : 1 - both / 2));
    CHECK(p_function{table.get(), tail::less}(-r) == greater);
  }
}

TEST_CASE("Edges hold the p of their statistic", "[p_value]") {
  std::mt19937_64 generator(6);
  std::vector<gpu::edge> edges(20'000);
  for (gpu::edge& e : edges) e.statistic = 2 * uniform(generator) - 1;
  for (const tail side : {tail::two_sided, tail::greater, tail::less}) {
    const gpu::stats::edge_p_values p(gpu::significance::student_t, 31, side, 2);
    gpu::stats::fill_p(p.function(), edges, 2);
    CHECK(std::ranges::all_of(edges, [&](const gpu::edge& e) {
      return e.p == gpu::stats::p_value(e.statistic, 31, side);
    }));
  }
}
