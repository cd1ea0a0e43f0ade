// What memory allows: whether rows are packed at once or in windows, as a pure function; and which
// rows those are.

#include <algorithm>
#include <cstddef>
#include <initializer_list>
#include <utility>
#include <vector>

#include <gpu/error.hpp>

#include "cpu/pairs/choice/policy.hpp"
#include "cpu/pairs/memory.hpp"
#include "cpu/pairs/rows/present_rows.hpp"
#include "support/catch.hpp"

using gpu::index_t;
using gpu::measure;
using gpu::cpu::plan_pair_memory;
using gpu::detail::traits_of;

TEST_CASE("Memory of all pairs is bounded for any number of rows", "[memory]") {
  constexpr std::size_t bound = std::size_t{256} << 20;
  for (const auto& [what, has_int8_sums] : std::vector<std::pair<measure, bool>>{
           {measure::spearman, true}, {measure::spearman, false}, {measure::pearson, true}}) {
    for (const index_t cols : {3, 30, 64, 65, 128, 129, 1000, 1861, 20000}) {
      bool was_windowed = false;
      for (const index_t rows : {index_t{0}, index_t{2}, index_t{60'000}, index_t{1'000'000},
                                 index_t{9'879'896}, index_t{4'294'967'295}}) {
        for (const int threads : {1, 2, 16, 128}) {
          INFO(rows << " x " << cols << ", " << threads << " threads");
          const auto plan =
              plan_pair_memory(traits_of(what), rows, cols, has_int8_sums, threads, 0);
          // Each thread has scratch of 512 bytes a column, and windows of long rows have more.
          const std::size_t of_long_rows = std::min(
              static_cast<std::size_t>(gpu::cpu::pair_policy::long_row_window) * plan.row_bytes,
              gpu::cpu::pair_policy::long_row_bytes);
          const bool is_long = 2 * of_long_rows > gpu::cpu::pair_policy::packed_bytes;
          if (cols * threads <= 128 * 1000)
            CHECK(plan.bytes <= bound + (is_long ? of_long_rows : 0));
          CHECK(plan.window_rows <= rows);
          CHECK(plan.is_windowed == (plan.window_rows < rows));
          if (plan.is_windowed)
            CHECK(plan.window_rows % (2 * gpu::cpu::pair_policy::window_step) == 0);
          if (threads == 1) {
            CHECK((plan.is_windowed || !was_windowed));
            was_windowed = plan.is_windowed;
          }
        }
      }
    }
  }
  CHECK(!plan_pair_memory(gpu::detail::spearman_traits, 1'000'000, 30, true, 2, 0).is_windowed);
  CHECK(plan_pair_memory(gpu::detail::spearman_traits, 9'879'896, 30, true, 2, 0).window_rows >
        1'500'000);
}

TEST_CASE("Windows of long rows hold some thousands of them, within a bound", "[memory]") {
  using gpu::cpu::pair_policy::long_row_bytes;
  for (const measure what : {measure::spearman, measure::pearson}) {
    // Ranked once: packing a row takes as long as its pairs with thousands.
    for (const auto& [rows, cols] :
         std::vector<std::pair<index_t, index_t>>{{784, 60'000}, {2000, 100'000}, {4096, 40'000}}) {
      CAPTURE(rows, cols);
      const auto plan = plan_pair_memory(traits_of(what), rows, cols, true, 2, 0);
      CHECK(!plan.is_windowed);
    }
    const auto many = plan_pair_memory(traits_of(what), 1'000'000, 20'000, true, 2, 0);
    CHECK(many.is_windowed);
    CHECK(many.window_rows >= gpu::cpu::pair_policy::long_row_window);
    const auto longest = plan_pair_memory(traits_of(what), 100'000, 1'000'000, true, 1, 0);
    CHECK(longest.window_rows * static_cast<index_t>(longest.row_bytes) <=
          static_cast<index_t>(long_row_bytes + (std::size_t{256} << 20)) +
              512 * static_cast<index_t>(longest.row_bytes));
  }
}

TEST_CASE("Windows of long rows under a limit are as small as it says", "[memory]") {
  const std::size_t limit = std::size_t{2} << 30;
  const auto plan = plan_pair_memory(gpu::detail::pearson_traits, 2000, 1'000'000, true, 1, limit);
  CHECK(plan.is_windowed);
  CHECK(plan.window_rows == 128);
  CHECK(plan.bytes <= limit);
  CHECK(plan.group == gpu::cpu::pair_policy::window_step);
  CHECK(gpu::cpu::window_rows_beside(plan, std::size_t{1} << 40) == 128);
}

TEST_CASE("Windows of few rows are packed where a limit holds no more", "[memory]") {
  using gpu::cpu::pair_policy::small_window_step;
  const auto least_of = [](const gpu::detail::measure_traits& what, index_t cols, int threads) {
    try {
      (void)plan_pair_memory(what, 2000, cols, true, threads, 1);
    } catch (const gpu::out_of_memory& refusal) {
      return refusal.requested_bytes();
    }
    return std::size_t{0};
  };
  for (const measure what : gpu::all_measures()) {
    for (const gpu::detail::measure_traits& traits :
         {traits_of(what), gpu::detail::pairwise_traits_of(traits_of(what))}) {
      for (const index_t cols : {100'000, 1'000'000}) {
        CAPTURE(gpu::to_string(what), cols);
        // Sixteen rows and four on the way, and what one thread takes.
        const std::size_t least = least_of(traits, cols, 1);
        const auto elements = static_cast<std::size_t>(cols);
        CHECK(least > elements * 16 * 4);
        CHECK(least < elements * 20 * 50 + (std::size_t{2} << 20));
        CHECK(least_of(traits, cols, 64) == least);
        for (const int threads : {1, 4, 64}) {
          for (const std::size_t limit : {least, 2 * least, 4 * least}) {
            const auto plan = plan_pair_memory(traits, 2000, cols, true, threads, limit);
            CHECK(plan.bytes <= limit);
            CHECK(plan.is_windowed);
            CHECK(plan.window_rows >= 16);
            CHECK(plan.window_rows % (2 * plan.group) == 0);
            CHECK(plan.threads <= threads);
            CHECK(plan.threads >= 1);
            if (limit == least) CHECK((plan.threads == 1 && plan.group == small_window_step));
          }
        }
      }
    }
  }
  const std::size_t limit = std::size_t{1} << 30;
  const auto plan = plan_pair_memory(gpu::detail::pearson_traits, 2000, 1'000'000, true, 4, limit);
  CHECK(plan.threads == 4);
  CHECK(plan.window_rows == 96);
  CHECK(gpu::cpu::window_rows_beside(plan, std::size_t{1} << 40) == 24 / 16 * 16);
  CHECK_THROWS_AS(
      plan_pair_memory(gpu::detail::pearson_traits, 2000, 1'000'000, true, 4, limit / 10),
      gpu::out_of_memory);
}

// Ranks of so few columns have no scratch for sums of doubles, which small windows take.
TEST_CASE("Up to 8192 columns no window is a small one", "[memory]") {
  for (const index_t cols : {513, 4000, 8191, 8192}) {
    for (std::size_t limit = std::size_t{1} << 20; limit < std::size_t{1} << 30;
         limit += limit / 3) {
      CAPTURE(cols, limit);
      try {
        const auto plan =
            plan_pair_memory(gpu::detail::spearman_traits, 20'000, cols, true, 4, limit);
        CHECK(plan.group == gpu::cpu::pair_policy::window_step);
      } catch (const gpu::out_of_memory&) {  // which a test below looks at
      }
    }
  }
}

TEST_CASE("Threads are fewer where a limit holds the scratch of no more", "[memory]") {
  const auto threads_at = [](std::size_t limit) {
    return plan_pair_memory(gpu::detail::spearman_traits, 5000, 30, true, 64, limit).threads;
  };
  CHECK(threads_at(std::size_t{1} << 30) == 64);
  CHECK(threads_at(std::size_t{4} << 20) > 8);
  CHECK(threads_at(std::size_t{4} << 20) < 24);
}

TEST_CASE("Each thread has the memory that it takes for sums of doubles", "[memory]") {
  constexpr std::size_t doubles = std::size_t{2} << 20;
  constexpr std::size_t limit = std::size_t{1} << 30;
  for (const int threads : {1, 16}) {
    const auto bytes_of = [&](const gpu::detail::measure_traits& what, std::size_t double_bytes) {
      return plan_pair_memory(what, 1000, 5000, true, threads, limit, double_bytes).bytes;
    };
    for (const auto* what : {&gpu::detail::pearson_traits, &gpu::detail::spearman_traits}) {
      CHECK(bytes_of(*what, doubles) ==
            bytes_of(*what, 0) + static_cast<std::size_t>(threads) * doubles);
    }
  }
}

TEST_CASE("A measure whose rows are longer than the input's has memory for these", "[memory]") {
  // A sign for each two columns.
  gpu::detail::measure_traits signs = gpu::detail::spearman_traits;
  signs.packed_cols = [](index_t cols) { return cols * (cols - 1) / 2; };
  for (const index_t cols : {5, 30, 120}) {
    const auto of_signs = plan_pair_memory(signs, 10'000, cols, true, 2, 0);
    const auto of_ranks =
        plan_pair_memory(gpu::detail::spearman_traits, 10'000, cols * (cols - 1) / 2, true, 2, 0);
    CHECK(of_signs.row_bytes == of_ranks.row_bytes);
    CHECK(of_signs.window_rows == of_ranks.window_rows);
    CHECK(of_signs.row_bytes > static_cast<std::size_t>(cols * (cols - 1) / 2));
  }
}

TEST_CASE("A limit on memory is kept or refused", "[memory]") {
  for (const index_t rows : {100, 5000, 1'000'000}) {
    for (const std::size_t mib : std::initializer_list<std::size_t>{4, 16, 64, 1024}) {
      const std::size_t limit = mib << 20;
      const auto plan = plan_pair_memory(gpu::detail::spearman_traits, rows, 30, true, 2, limit);
      CHECK(plan.bytes <= limit);
      CHECK(plan.piece_rows <= std::max<index_t>(1, plan.window_rows / 4));
      CHECK(plan.waiting_edges >= 1024);
    }
  }
  CHECK_THROWS_AS(plan_pair_memory(gpu::detail::spearman_traits, 5000, 30, true, 2, 100'000),
                  gpu::out_of_memory);
  const auto plan = plan_pair_memory(gpu::detail::spearman_traits, 9'879'896, 30, true, 2, 0);
  const index_t less = gpu::cpu::window_rows_beside(plan, std::size_t{100} << 20);
  CHECK(less < plan.window_rows * 3 / 5);
  CHECK(gpu::cpu::window_rows_beside(plan, std::size_t{1} << 40) >= plan.window_rows / 4 - 128);
}

TEST_CASE("Masks of rows with missing values take memory that is left", "[memory]") {
  constexpr std::size_t bound = std::size_t{256} << 20;
  for (const measure what : {measure::spearman, measure::pearson, measure::cosine}) {
    const auto& shared = gpu::detail::pairwise_traits_of(traits_of(what));
    for (const index_t cols : {3, 100, 1000}) {
      for (const index_t rows : {100, 4000, 30'000, 5'000'000}) {
        CAPTURE(rows, cols);
        const auto plan = plan_pair_memory(shared, rows, cols, true, 2, 0);
        CHECK(plan.bytes <= bound);
        // Room for twenty masks.
        const auto of_mask = static_cast<std::size_t>(plan.window_rows) *
                             (what == measure::spearman ? static_cast<std::size_t>(cols) + 16 : 32);
        if (cols == 100 && rows >= 100) CHECK(plan.mask_bytes >= 20 * of_mask);
        const std::size_t limit = std::size_t{64} << 20;
        CHECK(plan_pair_memory(shared, rows, cols, true, 2, limit).bytes <= limit);
      }
    }
    CHECK(plan_pair_memory(traits_of(what), 4000, 100, true, 2, 0).mask_bytes == 0);
  }
  const auto& ranks = gpu::detail::pairwise_traits_of(traits_of(measure::spearman));
  CHECK(plan_pair_memory(ranks, 4000, 1861, true, 2, 0).mask_bytes == 0);
}

TEST_CASE("Present rows are numbered in order", "[memory]") {
  for (const index_t step : {1, 2, 7, 64, 513}) {
    gpu::cpu::present_rows present(5000);
    std::vector<index_t> wanted;
    for (index_t i = step / 2; i < 5000; i += step) {
      present.add(i);
      wanted.push_back(i);
    }
    present.number();
    REQUIRE(present.size() == static_cast<index_t>(wanted.size()));
    index_t wrong = 0;
    for (std::size_t p = 0; p < wanted.size(); ++p) {
      wrong += present.row_of(static_cast<index_t>(p)) != wanted[p];
    }
    CHECK(wrong == 0);
    CHECK(present.contains(step / 2));
    CHECK(present.contains(step / 2 + 1) == (step == 1));
  }
  gpu::cpu::present_rows none(100);
  none.number();
  CHECK(none.size() == 0);
}
