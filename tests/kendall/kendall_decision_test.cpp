// The decision that devices take of a pair is that of kendall_cut, and its p fall into the bins of
// their own.

#include "stats/significance/kendall_decision.hpp"

#include <array>
#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include "stats/bins.hpp"
#include "stats/significance/kendall_test.hpp"
#include "support/catch.hpp"

namespace {

using gpu::row_ties;
using namespace gpu::stats;

constexpr std::array sides{gpu::tail::two_sided, gpu::tail::greater, gpu::tail::less};

// The ties of rows of `cols` columns whose values are drawn from so many.
std::vector<row_ties> drawn_ties(gpu::index_t cols, std::mt19937_64& engine) {
  std::vector<row_ties> out{{}};
  for (const std::uint64_t values : {2U, 3U, 7U, 40U}) {
    std::vector<std::int64_t> groups(values);
    for (gpu::index_t k = 0; k < cols; ++k) ++groups[engine() % values];
    row_ties ties;
    for (const std::int64_t size : groups) add_group(ties, size);
    if (2 * ties.pairs < cols * (cols - 1)) out.push_back(ties);
  }
  return out;
}

// Every S of two rows that could be, or some of them.
std::vector<std::int64_t> sums_of(gpu::index_t cols, std::mt19937_64& engine) {
  const std::int64_t pairs = cols * (cols - 1) / 2;
  std::vector<std::int64_t> out;
  for (std::int64_t s = -pairs; s <= pairs; s += 2) {
    const bool is_extreme = pairs - std::abs(s) <= 6;
    if (is_extreme || pairs < 700 || engine() % 64 == 0) out.push_back(s);
  }
  return out;
}

constexpr gpu::detail::keep_range every_tau{.at_least = 0.0, .at_most = 0.0};

}  // namespace

TEST_CASE("A decision by ties keeps what the cut keeps", "[kendall]") {
  std::mt19937_64 engine(3);
  for (const gpu::index_t cols : {3, 4, 12, 33, 34, 60, 300, 2048}) {
    const kendall_test test(cols);
    const auto ties = drawn_ties(cols, engine);
    const auto sums = sums_of(cols, engine);
    for (const gpu::tail side : sides) {
      std::vector<double> cuts{1.0, 0.9, 0.5, 0.05, 1e-6, 1e-30, 1e-295, 0.0};
      // Those of pairs, which have to be kept, and the next smaller ones.
      for (int drawn = 0; drawn < 40; ++drawn) {
        const double p = test.p(sums[engine() % sums.size()], ties[engine() % ties.size()],
                                ties[engine() % ties.size()], side);
        if (p > 1.0) continue;
        cuts.push_back(p);
        cuts.push_back(std::nextafter(p, 0.0));
      }
      for (const double max_p : cuts) {
        const kendall_cut cut(test, max_p, side);
        const kendall_decision by = decide_by(cut, every_tau);
        gpu::index_t wrong = 0;
        for (const row_ties& x : ties) {
          for (const row_ties& y : ties) {
            for (const std::int64_t s : sums) wrong += keeps_p(by, s, x, y) != cut.keeps(s, x, y);
          }
        }
        INFO(cols << " columns, tail " << static_cast<int>(side) << ", max_p " << max_p);
        CHECK(wrong == 0);
      }
    }
  }
}

TEST_CASE("Tests that share the exact p have the p of their own", "[kendall]") {
  const exact_kendall exact(50);
  for (gpu::index_t cols = 3; cols <= 36; ++cols) {
    const kendall_test own(cols);
    const kendall_test sharing(cols, exact);
    gpu::index_t wrong = 0;
    for (const gpu::tail side : sides) {
      for (std::int64_t s = -own.pairs(); s <= own.pairs(); s += 2) {
        wrong += own.p(s, {}, {}, side) != sharing.p(s, {}, {}, side);
      }
    }
    INFO(cols << " columns");
    CHECK(wrong == 0);
  }
}

TEST_CASE("A decision by ties also cuts tau", "[kendall]") {
  const kendall_test test(40);
  const kendall_cut cut(test, 0.5, gpu::tail::two_sided);
  const double infinity = std::numeric_limits<double>::infinity();
  const kendall_decision by = decide_by(cut, {.at_least = 0.5, .at_most = -infinity});
  const double kept = decide_kendall(by, 400, {}, {});
  CHECK(kept == 400.0 / 780.0);
  CHECK(std::isnan(decide_kendall(by, 380, {}, {})));
  CHECK(std::isnan(decide_kendall(by, -400, {}, {})));
  CHECK(std::isnan(decide_kendall(by, 20, {}, {})));
  CHECK(decide_kendall(decide_nothing(40), 20, {}, {}) == 20.0 / 780.0);
}

TEST_CASE("The p of a decision falls into the bin of the pair's own", "[kendall]") {
  std::mt19937_64 engine(4);
  for (const gpu::index_t cols : {5, 20, 33, 34, 70, 500}) {
    const kendall_test test(cols);
    const auto ties = drawn_ties(cols, engine);
    const auto sums = sums_of(cols, engine);
    for (const gpu::tail side : sides) {
      for (const double max_p : {1.0, 0.3, 0.01, 1e-9}) {
        const kendall_cut within(test, max_p, side);
        for (const double share : {0.0, 0.2, 0.999}) {
          gpu::detail::p_bins bins{.low = -max_p, .high = -max_p * share, .scale = 0, .bins = 777};
          bins.scale = 777 / (bins.high - bins.low);
          const kendall_steps steps = steps_of(within, bins, 1);
          kendall_decision by = decide_steps(within);
          by.steps = static_cast<int>(steps.z.size());
          by.step_z = steps.z.data();
          by.step_p = steps.p.data();
          by.untied_p = steps.untied_p.data();
          const auto place_of = [&](double p) {
            return gpu::detail::bin_place(-p, bins.low, bins.high, bins.scale, bins.bins);
          };
          gpu::index_t wrong = 0;
          for (const row_ties& x : ties) {
            for (const row_ties& y : ties) {
              for (const std::int64_t s : sums) {
                wrong +=
                    place_of(decide_kendall(by, s, x, y)) != place_of(within.p_within(s, x, y));
              }
            }
          }
          INFO(cols << " columns, tail " << static_cast<int>(side) << ", max_p " << max_p
                    << ", from " << share);
          CHECK(wrong == 0);
        }
      }
    }
  }
}

namespace {

struct drawn_row {
  std::vector<int> values;
  std::vector<std::int64_t> ranks;  // centred and doubled
  row_ties ties;
};

// A row of one of so many values; close to another where there is one.
drawn_row draw_row(gpu::index_t cols, std::uint64_t values, const drawn_row* near,
                   std::mt19937_64& engine) {
  drawn_row out;
  for (gpu::index_t k = 0; k < cols; ++k) {
    const bool copies = near != nullptr && engine() % 8 != 0;
    out.values.push_back(copies ? near->values[static_cast<std::size_t>(k)]
                                : static_cast<int>(engine() % values));
  }
  for (const int x : out.values) {
    std::int64_t rank = 0;
    std::int64_t equal = 0;
    for (const int other : out.values) {
      rank += (other < x) - (other > x);
      equal += other == x;
    }
    out.ranks.push_back(rank);
    out.ties.pairs += equal - 1;
    out.ties.triples += (equal - 1) * (equal - 2);
  }
  out.ties.pairs /= 2;
  return out;
}

}  // namespace

TEST_CASE("No pair that Kendall's cut keeps has a rho below the screen's", "[kendall]") {
  std::mt19937_64 engine(5);
  gpu::index_t kept = 0;
  gpu::index_t below = 0;
  double closest = 1;
  for (const gpu::index_t cols : {3, 4, 5, 8, 12, 30, 40, 100}) {
    const kendall_test test(cols);
    for (int drawn = 0; drawn < 3000; ++drawn) {
      const std::uint64_t values = 2 + engine() % (drawn % 3 == 0 ? 4U : 1000U);
      const drawn_row x = draw_row(cols, values, nullptr, engine);
      const drawn_row y = draw_row(cols, values, drawn % 2 == 0 ? &x : nullptr, engine);
      const std::int64_t pairs = test.pairs();
      if (x.ties.pairs == pairs || y.ties.pairs == pairs) continue;
      std::int64_t s = 0;
      for (std::size_t i = 0; i < x.values.size(); ++i) {
        for (std::size_t j = i + 1; j < x.values.size(); ++j) {
          const int of_x = (x.values[i] < x.values[j]) - (x.values[i] > x.values[j]);
          const int of_y = (y.values[i] < y.values[j]) - (y.values[i] > y.values[j]);
          s += of_x * of_y;
        }
      }
      std::int64_t product = 0;
      std::int64_t xx = 0;
      std::int64_t yy = 0;
      for (std::size_t k = 0; k < x.ranks.size(); ++k) {
        product += x.ranks[k] * y.ranks[k];
        xx += x.ranks[k] * x.ranks[k];
        yy += y.ranks[k] * y.ranks[k];
      }
      const double rho = std::abs(gpu::detail::rho_of(product, xx, yy));
      const bool has_untied = x.ties.pairs == 0 && y.ties.pairs == 0;
      for (const gpu::tail side : sides) {
        const double p = test.p(s, x.ties, y.ties, side);
        for (const double max_p : {1.0, 0.3, 0.01, 1e-6, 1e-12, p}) {
          if (max_p > 1) continue;
          const kendall_cut cut(test, max_p, side);
          for (const double min_abs : {0.0, 0.6}) {
            const kendall_decision by = decide_by(
                cut, {.at_least = min_abs, .at_most = side == gpu::tail::greater ? -2 : -min_abs});
            if (std::isnan(decide_kendall(by, s, x.ties, y.ties))) continue;
            const double least = least_rho(by, has_untied);
            ++kept;
            below += rho < least;
            closest = std::min(closest, rho - least);
          }
        }
      }
    }
  }
  CHECK(kept > 10'000);
  CHECK(below == 0);
  CHECK(closest < 1e-6);  // the bound is reached
}
