// Loops over ranges of indexes: every index once, in ranges of the size that was asked for.

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <stdexcept>
#include <vector>

#include "base/parallel.hpp"
#include "support/catch.hpp"

using gpu::index_t;
using gpu::detail::index_range;
using gpu::detail::parallel_for_ranges;

TEST_CASE("Ranges of a parallel loop hold every index once", "[parallel]") {
  for (const index_t count : {0, 1, 2, 63, 64, 65, 128, 1000}) {
    for (const index_t size : {1, 3, 64, 1000, 5000}) {
      for (const int threads : {1, 4}) {
        std::vector<int> seen(static_cast<std::size_t>(count));
        std::atomic<index_t> ranges{0};
        std::atomic<index_t> wrong{0};
        parallel_for_ranges(count, size, threads, [&](index_range some, int thread) {
          ++ranges;
          const bool is_last = some.end == count;
          const bool is_full = some.end - some.begin == size;
          if (!is_full && !(is_last && some.end - some.begin < size)) ++wrong;
          if (some.begin % size != 0 || some.begin >= some.end) ++wrong;
          if (thread < 0 || thread >= threads) ++wrong;
          for (index_t i = some.begin; i < some.end; ++i) ++seen[static_cast<std::size_t>(i)];
        });
        INFO(count << " indexes by " << size << ", " << threads << " threads");
        CHECK(wrong == 0);
        CHECK(std::all_of(seen.begin(), seen.end(), [](int times) { return times == 1; }));
        index_t expected = 0;
        for (index_t covered = 0; covered < count; covered += size) ++expected;
        CHECK(ranges == expected);
      }
    }
  }
}

TEST_CASE("An exception leaves a loop over ranges", "[parallel]") {
  for (const int threads : {1, 4}) {
    CHECK_THROWS_AS(parallel_for_ranges(100, 7, threads,
                                        [](index_range some, int) {
                                          if (some.begin == 49) throw std::runtime_error("49");
                                        }),
                    std::runtime_error);
  }
}
