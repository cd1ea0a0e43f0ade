// How a cut's pairs are found, asked without a GPU.
#include "plan/screen_choice.hpp"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>

#include "plan/short_jobs.hpp"
#include "stats/significance/significance.hpp"
#include "support/catch.hpp"

namespace {

using gpu::index_t;
using gpu::kernels::screen_operand;
using namespace gpu::detail;

keep_range beyond(double magnitude) {
  return {magnitude, -magnitude};
}
keep_range cut_of(double p, index_t cols) {
  return beyond(gpu::stats::critical_value(p, cols, gpu::tail::two_sided));
}
// A sample of 2^20 pairs with these shares of candidates.
cut_sample sample_of(double first, double second = 0, double kept = 0) {
  constexpr double pairs = 1 << 20;
  return {.pairs = 1 << 20,
          .kept = static_cast<std::uint64_t>(kept * pairs),
          .candidates = {static_cast<std::uint64_t>(first * pairs),
                         static_cast<std::uint64_t>(second * pairs)}};
}

}  // namespace

TEST_CASE("A screen is chosen by what it leaves of the rows' own pairs", "[screen_choice]") {
  const keep_range strict = cut_of(1e-10, 30);
  const auto choose = [&](const cut_sample& sample) {
    return choose_screen(spearman_traits, strict, 30, screen_use::edges, sample);
  };
  REQUIRE(choose(sample_of(0)).has_value());
  CHECK(choose(sample_of(0))->operand == screen_operand::e4m3);
  CHECK(choose(sample_of(1e-3, 1e-6))->operand == screen_operand::int8);
  CHECK_FALSE(choose(sample_of(1e-2, 1e-3)).has_value());
}

TEST_CASE("Nothing known of the rows means that they are independent", "[screen_choice]") {
  for (const measure_traits* const what : {&spearman_traits, &pearson_traits}) {
    CHECK(choose_screen(*what, cut_of(1e-12, 57), 57, screen_use::edges, {}).has_value());
    CHECK_FALSE(choose_screen(*what, cut_of(0.05, 57), 57, screen_use::edges, {}).has_value());
  }
}

TEST_CASE("No cut that keeps pairs near 0 is screened", "[screen_choice]") {
  CHECK(screens_for(spearman_traits, beyond(0), 30, screen_use::edges).empty());
  CHECK(screens_for(spearman_traits, {0.5, 0.1}, 30, screen_use::edges).empty());
  CHECK_FALSE(
      choose_screen(pearson_traits, beyond(0), 30, screen_use::edges, sample_of(0)).has_value());
}

TEST_CASE("Screens are of packed rows, tests of the input's columns", "[screen_choice]") {
  // A sign for each two columns: 30 columns make 435 elements, too many for ranks in 8 bits.
  measure_traits signs = spearman_traits;
  signs.packed_cols = [](index_t cols) { return cols * (cols - 1) / 2; };
  const auto screens = screens_for(signs, beyond(0.9), 30, screen_use::edges);
  REQUIRE(screens.size() == 1);
  CHECK(screens[0].screen.operand == screen_operand::rounded);
  CHECK(screens[0].screen.depth == rounded_depth(435));
  CHECK(screens_for(spearman_traits, beyond(0.9), 30, screen_use::edges).size() == 2);
  // Independent rows pass as often as those of 30 observations do.
  CHECK_FALSE(choose_screen(signs, cut_of(0.05, 30), 30, screen_use::edges, {}).has_value());
  CHECK(choose_screen(signs, cut_of(1e-12, 30), 30, screen_use::edges, {}).has_value());
}

TEST_CASE("Rows with missing values have no screen", "[screen_choice]") {
  for (const measure_traits* const what : {&spearman_traits, &pearson_traits, &cosine_traits}) {
    const measure_traits& shared = pairwise_traits_of(*what);
    CHECK(screens_for(shared, beyond(0.9), 30, screen_use::edges).empty());
    CHECK(explain_screen(shared, beyond(0.9), 30, screen_use::edges, 1e12, {})
              .find("missing values") != std::string::npos);
  }
}

TEST_CASE("Rows of signs are screened by ranks of their columns", "[screen_choice]") {
  const auto operand_of = [](double cut, index_t cols) {
    const auto choice = choose_screen(kendall_traits, beyond(cut), cols, screen_use::edges, {});
    return choice ? std::optional(choice->operand) : std::nullopt;
  };
  CHECK(operand_of(0.97, 30) == screen_operand::e4m3);
  CHECK(operand_of(0.7, 30) == screen_operand::int8);
  CHECK(operand_of(0.2, 30) == std::nullopt);
  CHECK(operand_of(0.7, 128) == screen_operand::e4m3);
  CHECK(operand_of(0.99, 129) == std::nullopt);
  const auto explained =
      explain_screen(kendall_traits, beyond(0.9), 129, screen_use::edges, 1e12, {});
  CHECK(explained.find("columns have no screen") != std::string::npos);
}

TEST_CASE("Screens reach no further than the cut", "[screen_choice]") {
  for (const measure_traits* const what : {&spearman_traits, &pearson_traits}) {
    for (const index_t cols : {30, 57, 128, 1000}) {
      const keep_range keep = cut_of(1e-9, cols);
      for (const possible_screen& screen : screens_for(*what, keep, cols, screen_use::counts)) {
        CHECK(screen.reach <= keep.at_least);
      }
    }
  }
}

namespace {

// What a choice takes for a pair by the figures of the machine, where deciding every pair takes 1;
// of a screen that leaves this share of candidates.
double expected_time(const std::optional<screen_choice>& chosen, double share) {
  return chosen ? chosen->pair_cost + share * chosen->candidate_cost : 1.0;
}

}  // namespace

TEST_CASE("A stricter cut is never expected to take longer", "[screen_choice]") {
  for (const measure_traits* const what : {&spearman_traits, &pearson_traits}) {
    for (const index_t cols : {30, 57, 128, 1000}) {
      for (const screen_use use :
           {screen_use::edges, screen_use::counts, screen_use::weighted_counts}) {
        double before = 1.0;
        for (double p = 0.1; p > 1e-14; p *= 0.7) {
          const keep_range keep = cut_of(p, cols);
          const auto chosen = choose_screen(*what, keep, cols, use, {});
          double share = 0;
          for (const possible_screen& each : screens_for(*what, keep, cols, use)) {
            if (chosen && each.screen.operand == chosen->operand) {
              share = gpu::stats::p_value(each.reach, cols, gpu::tail::two_sided);
            }
          }
          const double now = expected_time(chosen, share);
          INFO(cols << " columns, p " << p << ", " << before << " then " << now);
          CHECK(now <= before * (1 + 1e-9));
          before = now;
        }
        CHECK(before < 1);
      }
    }
  }
}

TEST_CASE("No way is expected to take less time than the chosen one", "[screen_choice]") {
  for (const measure_traits* const what : {&spearman_traits, &pearson_traits}) {
    for (const index_t cols : {30, 57, 128, 1000}) {
      const keep_range keep = cut_of(1e-10, cols);
      for (const screen_use use : {screen_use::edges, screen_use::counts}) {
        const auto screens = screens_for(*what, keep, cols, use);
        for (double first = 1e-9; first < 1; first *= 3) {
          for (double second = 1e-9; second <= first; second *= 3) {
            const cut_sample sample = sample_of(first, second);
            const auto chosen = choose_screen(*what, keep, cols, use, sample);
            double taken = 1;  // deciding every pair
            double least = 1;
            for (std::size_t number = 0; number < screens.size(); ++number) {
              const double time = screens[number].time_of(sample.share(sample.candidates[number]));
              least = std::min(least, time);
              if (chosen && chosen->operand == screens[number].screen.operand) taken = time;
            }
            CHECK(taken == least);
          }
        }
      }
    }
  }
}

TEST_CASE("A machine whose candidates pay nowhere has no screen", "[screen_choice]") {
  cuda_costs machine;
  for (screen_costs* const each : {&machine.deep_e4m3, &machine.deep_int8, &machine.rounded}) {
    each->pair = 1;
  }
  for (const measure_traits* const what : {&spearman_traits, &pearson_traits}) {
    CHECK_FALSE(
        choose_screen(*what, cut_of(1e-12, 57), 57, screen_use::edges, {}, machine).has_value());
  }
}

TEST_CASE("A screen that leaves more than was promised loses a twentieth of the job at most",
          "[screen_choice]") {
  constexpr double slices = 500;
  constexpr double pairs = 1e12;
  for (const index_t cols : {30, 128, 1000}) {
    for (const screen_use use : {screen_use::edges, screen_use::counts}) {
      for (const possible_screen& possible :
           screens_for(spearman_traits, cut_of(1e-10, cols), cols, use)) {
        const screen_choice& screen = possible.screen;
        for (double share = 1e-7; share < 1; share *= 1.3) {
          // In times of what decides every pair.
          const double slice = (screen.pair_cost + share * screen.candidate_cost) / slices;
          double spent = 0;
          double done = 0;
          while (done < 1 && screen_goes_on(screen, {.pairs = done * pairs,
                                                     .candidates = done * pairs * share,
                                                     .all_pairs = pairs})) {
            spent += slice;
            done += 1 / slices;
          }
          const double gave_up = done < 1 - 0.5 / slices ? 1 : 0;
          INFO(cols << " columns, " << share << " candidates a pair, spent " << spent);
          CHECK(spent + gave_up <= std::max(1.0, 1.05 + slice));
          // What takes less time than to begin anew is never given up.
          if (slice * slices <= 1) CHECK(gave_up == 0);
        }
      }
    }
  }
}

TEST_CASE("A sample is large enough to see what matters and small beside the work",
          "[screen_choice]") {
  // More pairs are sampled more often, longer rows less often.
  for (const index_t cols : {3, 16, 30, 128, 100'000}) {
    CHECK(sample_size(1e9, cols) <= sample_size(1e14, cols));
    CHECK(sample_size(1e14, cols + 1) <= sample_size(1e14, cols));
  }
  for (const double pairs : {1.0, 1e6, 1e9, 1e13}) {
    for (const index_t cols : {3, 128, 100'000}) {
      const auto size = static_cast<double>(sample_size(pairs, cols));
      CHECK(size >= 1024);
      CHECK(size * static_cast<double>(cols) <= std::max(16'777'216.0, 1024.0 * 100'000));
    }
  }
}

TEST_CASE("A sample bounds the share of kept pairs", "[screen_choice]") {
  CHECK(cut_sample{}.least_kept_share() == 0);
  CHECK(cut_sample{}.most_kept_share() == 1);
  CHECK(sample_of(0, 0, 1e-6).least_kept_share() == 0);
  CHECK(sample_of(0, 0, 0).most_kept_share() > 0);
  const cut_sample half = sample_of(0, 0, 0.5);
  CHECK(half.least_kept_share() < half.kept_share());
  CHECK(half.least_kept_share() > 0.99 * half.kept_share());
  CHECK(half.most_kept_share() < 1.01 * half.kept_share());
}

TEST_CASE("Short jobs take the ways that begin at once", "[screen_choice]") {
  const auto pairs_of = [](double rows) { return rows * (rows - 1) / 2; };
  // The sides of each step on which one way was measured to be the faster by more than a tenth.
  CHECK(is_short_for_classes(pairs_of(10'000), 30));
  CHECK_FALSE(is_short_for_classes(pairs_of(30'000), 30));
  CHECK(is_short_for_classes(pairs_of(10'000), 100));
  CHECK_FALSE(is_short_for_classes(pairs_of(30'000), 100));
  CHECK(is_short_for_packing(pairs_of(100)));
  CHECK_FALSE(is_short_for_packing(pairs_of(2000)));
  CHECK(is_short_for_unit_screens(pairs_of(20'000)));
  CHECK_FALSE(is_short_for_unit_screens(pairs_of(50'000)));
  CHECK(is_short_for_folding(20'000));
  CHECK_FALSE(is_short_for_folding(100'000));

  // No job is too short where a larger one is not, and more columns save more.
  bool was_short[4] = {true, true, true, true};
  for (double rows = 2; rows < 1e7; rows *= 1.1) {
    const double pairs = pairs_of(rows);
    const bool is_short[4] = {is_short_for_classes(pairs, 30), is_short_for_packing(pairs),
                              is_short_for_unit_screens(pairs), is_short_for_folding(rows)};
    for (int way = 0; way < 4; ++way) {
      CHECK((was_short[way] || !is_short[way]));
      was_short[way] = is_short[way];
    }
    CHECK((is_short_for_classes(pairs, 30) || !is_short_for_classes(pairs, 100)));
  }
  for (const bool is_short : was_short) CHECK_FALSE(is_short);
}

TEST_CASE("Edges of few columns are found in doubles where many pairs are near the cut",
          "[screen_choice]") {
  constexpr double half_error = 1e-3;
  const auto takes = [&](double rows, index_t cols, double p) {
    return takes_doubles(rows * rows / 2, cols, cut_of(p, cols), half_error);
  };
  CHECK(takes(20'000, 3, 1e-9));
  CHECK_FALSE(takes(2000, 3, 1e-9));  // too few to begin
  for (const index_t cols : {10, 30, 100}) CHECK_FALSE(takes(1e6, cols, 1e-9));
  CHECK_FALSE(takes_doubles(1e12, 3, beyond(0), half_error));
}

TEST_CASE("A plan says where pairs are too few for a screen", "[screen_choice]") {
  const auto words = [](const measure_traits& what, index_t cols, screen_use use, double pairs) {
    return explain_screen(what, beyond(0.9), cols, use, pairs, {});
  };
  const auto says = [](const std::string& text) { return text.find("too few") != text.npos; };
  CHECK(says(words(pearson_traits, 30, screen_use::edges, 1e6)));
  CHECK_FALSE(says(words(pearson_traits, 30, screen_use::edges, 1e10)));
  CHECK_FALSE(says(words(pearson_traits, 100, screen_use::edges, 1e6)));
  CHECK_FALSE(says(words(spearman_traits, 30, screen_use::edges, 1e6)));
  CHECK(says(words(spearman_traits, 30, screen_use::counts, 1e4)));
  CHECK_FALSE(says(words(spearman_traits, 30, screen_use::counts, 1e10)));
}

TEST_CASE("A choice is told in words", "[screen_choice]") {
  const auto words = [](const cut_sample& sample, double p) {
    return explain_screen(spearman_traits, cut_of(p, 30), 30, screen_use::edges, 1e12, sample);
  };
  CHECK(words(sample_of(0), 1e-10).find("e4m3") != std::string::npos);
  CHECK(words(sample_of(0.5, 0.1), 1e-10).find("every pair is decided") != std::string::npos);
  CHECK(words({}, 1e-10).find("independent") != std::string::npos);
}
