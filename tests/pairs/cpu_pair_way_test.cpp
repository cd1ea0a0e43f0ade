// Which way of finding pairs the CPU takes, as a pure function of a sample and of costs.

#include <algorithm>
#include <limits>
#include <string>

#include "cpu/pairs/choice/cpu_pair_way.hpp"
#include "plan/machine_costs.hpp"
#include "support/catch.hpp"

using gpu::cpu::choose_cpu_way;
using gpu::cpu::cpu_pair_costs;
using gpu::cpu::cpu_pair_way;

TEST_CASE("Few pairs are screened, some searched, many all decided", "[plan]") {
  const cpu_pair_costs costs{
      .screen = 0.15, .search = 0.6, .every = 2.5, .candidate = 20, .decide = 20};
  const auto way = [&](double kept, double candidates) {
    return choose_cpu_way({.sampled = 1000, .kept = kept, .candidates = candidates}, costs).way;
  };
  CHECK(way(1e-5, 1e-4) == cpu_pair_way::screen);
  CHECK(way(1e-5, 0.1) == cpu_pair_way::search);
  CHECK(way(0.01, 0.2) == cpu_pair_way::search);
  CHECK(way(0.3, 0.3) == cpu_pair_way::every);
  CHECK(way(1, 1) == cpu_pair_way::every);
}

TEST_CASE("What a screen leaves may be too dear where its products are cheap", "[plan]") {
  // 57 ranks on AMX. A count by every pair takes 0.34 ns; 22,283 correlated rows at p <= 1e-14,
  // which left 0.6 % of the pairs, took twice as long by the screen.
  const cpu_pair_costs costs{
      .screen = 0.103, .search = 0.24, .every = 0.34, .candidate = 148, .decide = 21};
  const auto way = [&](double kept, double candidates) {
    return choose_cpu_way({.sampled = 7500, .kept = kept, .candidates = candidates}, costs).way;
  };
  CHECK(way(0.005, 0.006) == cpu_pair_way::every);
  CHECK(way(5e-5, 1e-4) == cpu_pair_way::screen);
}

TEST_CASE("A screen that promises little is not taken", "[plan]") {
  // 57 ranks with VNNI, counted: the screen is a fifth cheaper where it leaves nothing.
  const cpu_pair_costs costs{
      .screen = 0.31, .search = 0.37, .every = 0.39, .candidate = 50, .decide = 20};
  const auto way = [&](double share) {
    return choose_cpu_way({.sampled = 7500, .kept = share, .candidates = share}, costs).way;
  };
  CHECK(way(1.0 / 15000) == cpu_pair_way::screen);
  CHECK(way(5e-4) != cpu_pair_way::screen);
}

namespace {

// Pairs of an upper triangle of `rows`, and what a job over them spends where way is reviewed
// between panels. share(row) is the share of candidates in the panel that begins there.
struct reviewed_job {
  double rows;
  cpu_pair_costs costs;

  [[nodiscard]] double pairs(double begin, double end) const {
    return (end - begin) * (rows - (begin + end) / 2);
  }

  template <class Share>
  [[nodiscard]] double spent(cpu_pair_way& way, const Share& share) const {
    double total = 0;
    double done = 0;
    double candidates = 0;
    double end = 0;
    for (double begin = 0; begin < rows; begin = end) {
      end = std::min(rows, begin + std::clamp(3 * begin, 128.0, 2048.0));
      const double here = share(begin);
      const double price = way == cpu_pair_way::screen
                               ? gpu::cpu::cpu_cost_of_dropping(costs.screen, here, costs.candidate)
                           : way == cpu_pair_way::search
                               ? gpu::cpu::cpu_cost_of_dropping(costs.search, here, costs.decide)
                               : costs.every;
      total += pairs(begin, end) * price;
      done += pairs(begin, end);
      candidates += pairs(begin, end) * here;
      const double seen = candidates / done;
      const cpu_pair_way next = gpu::cpu::review_cpu_way(
          way, {.sampled = 7500, .kept = seen, .candidates = seen}, costs, done, pairs(0, rows));
      if (next != way) done = candidates = 0;
      way = next;
    }
    return total;
  }
};

}  // namespace

TEST_CASE("A screen that goes wrong loses at most 5 % of the job", "[plan]") {
  const reviewed_job job{
      22283, {.screen = 0.103, .search = 0.24, .every = 0.34, .candidate = 178, .decide = 21}};
  const double by_every = job.pairs(0, job.rows) * job.costs.every;
  // From what it was chosen for to what makes a pair five times as dear.
  for (double share = 1e-5; 0.103 * 2 + 178 * share < 5 * 0.34; share *= 1.1) {
    cpu_pair_way way = cpu_pair_way::screen;
    CHECK(job.spent(way, [&](double) { return share; }) <= 1.05 * by_every);
    const double price = gpu::cpu::cpu_cost_of_dropping(0.103, share, 178);
    if (price < 0.3) CHECK(way == cpu_pair_way::screen);
    if (price > 0.4) CHECK(way != cpu_pair_way::screen);
  }
}

TEST_CASE("Rows of another kind that come first do not end a screen", "[plan]") {
  const reviewed_job job{
      100'000, {.screen = 0.103, .search = 0.24, .every = 0.34, .candidate = 178, .decide = 21}};
  cpu_pair_way way = cpu_pair_way::screen;
  const double spent = job.spent(way, [](double row) { return row < 128 ? 0.004 : 1e-5; });
  CHECK(way == cpu_pair_way::screen);
  CHECK(spent < 0.5 * job.pairs(0, job.rows) * job.costs.every);
}

TEST_CASE("A search that goes wrong becomes a decision of every pair", "[plan]") {
  const reviewed_job job{22283, {.search = 0.6, .every = 1.5, .candidate = 20, .decide = 20}};
  cpu_pair_way way = cpu_pair_way::search;
  const double spent = job.spent(way, [](double) { return 0.2; });
  CHECK(way == cpu_pair_way::every);
  CHECK(spent <= 1.05 * job.pairs(0, job.rows) * job.costs.every);
  way = cpu_pair_way::search;
  (void)job.spent(way, [](double) { return 1e-4; });
  CHECK(way == cpu_pair_way::search);
}

TEST_CASE("A choice tells what each way would have cost", "[plan]") {
  const cpu_pair_costs no_screen{.search = 0.6, .every = 2.5, .candidate = 20, .decide = 20};
  const auto choice = choose_cpu_way({.sampled = 10, .kept = 0.01, .candidates = 1}, no_screen);
  CHECK(choice.way == cpu_pair_way::search);
  CHECK(choice.screen == std::numeric_limits<double>::infinity());
  CHECK(choice.search < choice.every);
  CHECK(choice.every == 2.5);
}

TEST_CASE("A stricter cut is never expected to take longer", "[plan]") {
  const cpu_pair_costs costs{
      .screen = 0.15, .search = 0.6, .every = 2.5, .candidate = 20, .decide = 20};
  double before = 0;
  for (double share = 1e-7; share < 1; share *= 1.1) {
    const auto choice =
        choose_cpu_way({.sampled = 1000, .kept = share, .candidates = share}, costs);
    const double cost = std::min({choice.screen, choice.search, choice.every});
    CHECK(cost >= before);
    before = cost;
  }
}

TEST_CASE("The way that is chosen takes at most a ninth longer than the best one", "[plan]") {
  namespace levels = gpu::detail::default_costs;
  for (const gpu::detail::cpu_costs* const level :
       {&levels::baseline, &levels::avx2, &levels::avx512, &levels::avx512_vnni, &levels::amx}) {
    for (const double columns : {5.0, 30.0, 57.0, 120.0}) {
      const double sums = columns * (level->int8 > 0 ? level->int8 : level->int16) + level->filter;
      const cpu_pair_costs costs{.screen = level->screen > 0
                                               ? columns * level->screen + level->look
                                               : std::numeric_limits<double>::infinity(),
                                 .search = sums,
                                 .every = sums + level->select,
                                 .candidate = level->candidate + columns * level->own_rank_column,
                                 .decide = level->own_rank_pair + columns * level->own_rank_column};
      for (double kept = 1e-7; kept < 1; kept *= 1.5) {
        for (double left = kept; left < 1; left *= 2) {
          const auto choice =
              choose_cpu_way({.sampled = 7500, .kept = kept, .candidates = left}, costs);
          const double best = std::min({choice.screen, choice.search, choice.every});
          double chosen = choice.every;
          if (choice.way == cpu_pair_way::screen) chosen = choice.screen;
          if (choice.way == cpu_pair_way::search) chosen = choice.search;
          CHECK(chosen <= best / 0.9 * (1 + 1e-12));
        }
      }
    }
  }
}

TEST_CASE("A share of a sample is never none and never all", "[plan]") {
  CHECK(gpu::cpu::estimated_share(0, 1000) > 0);
  CHECK(gpu::cpu::estimated_share(0, 1000) < 0.001);
  CHECK(gpu::cpu::estimated_share(1000, 1000) < 1);
  CHECK(gpu::cpu::estimated_share(500, 1000) == Approx(0.5));
}

TEST_CASE("A choice says in words what was taken and why", "[plan]") {
  using gpu::cpu::explain_cpu_way;
  const cpu_pair_costs costs{
      .screen = 0.15, .search = 0.6, .every = 2.5, .candidate = 20, .decide = 20};
  const auto text = [&](double kept, double candidates) {
    const gpu::cpu::pair_estimate estimate{.sampled = 1000, .kept = kept, .candidates = candidates};
    return explain_cpu_way(choose_cpu_way(estimate, costs), estimate);
  };
  CHECK(text(1e-5, 1e-4).starts_with("screened by 8-bit products: they leave 0.0001 of the pairs"));
  CHECK(text(1e-5, 0.1).starts_with("searched by sums of products: they leave 1e-05 of the pairs"));
  CHECK(text(0.3, 0.3).starts_with("every pair is decided: the cut keeps 0.3 of them"));
  CHECK(text(0.3, 0.3).ends_with("by deciding it 2.5 ns"));
  CHECK(text(0.3, 0.3).find("of 1000 sampled") != std::string::npos);
  const auto without = choose_cpu_way({.sampled = 10, .kept = 0.01, .candidates = 1},
                                      {.search = 1, .every = 2, .candidate = 20, .decide = 20});
  CHECK(explain_cpu_way(without, {.sampled = 10, .kept = 0.01, .candidates = 1})
            .find("by screen not offered") != std::string::npos);
}
