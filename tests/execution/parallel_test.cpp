// Loops that threads share: every index once, in ranges of the size that was asked for; without the
// threads that are busy, in a forked child, within a loop.
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <latch>
#include <stdexcept>
#include <thread>
#include <vector>

#include "base/parallel.hpp"
#include "support/catch.hpp"

using gpu::index_t;
using gpu::detail::index_range;
using gpu::detail::parallel_for;
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

TEST_CASE("A loop does not wait for threads that are busy elsewhere", "[parallel]") {
  const int all = gpu::detail::most_threads();
  std::latch busy(all);
  std::latch done(1);
  std::thread other([&] {
    parallel_for(all, all, [&](index_t, int) {
      busy.count_down();
      done.wait();
    });
  });
  busy.wait();  // every thread that there can be
  std::atomic<index_t> sum{0};
  parallel_for(1000, 4, [&](index_t i, int) { sum += i; });
  CHECK(sum == 999 * 1000 / 2);
  done.count_down();
  other.join();
}

TEST_CASE("A loop within a loop has one thread, the next loop has all again", "[parallel]") {
  std::atomic<int> others{0};
  std::atomic<index_t> sum{0};
  parallel_for(8, 4, [&](index_t, int) {
    const auto outer = std::this_thread::get_id();
    parallel_for(100, 4, [&](index_t i, int thread) {
      if (thread != 0 || std::this_thread::get_id() != outer) ++others;
      sum += i;
    });
  });
  CHECK(others == 0);
  CHECK(sum == 8 * 99 * 100 / 2);
  std::latch both(2);
  parallel_for(2, 2, [&](index_t, int) { both.arrive_and_wait(); });
}

TEST_CASE("Loops of several threads at once share the threads", "[parallel]") {
  std::atomic<index_t> sum{0};
  std::vector<std::thread> callers;
  for (int caller = 0; caller < 8; ++caller) {
    callers.emplace_back([&] {
      for (int again = 0; again < 200; ++again) {
        parallel_for(16, 1 + again % 5, [&](index_t i, int) { sum += i; });
      }
    });
  }
  for (std::thread& each : callers) each.join();
  CHECK(sum == index_t{8} * 200 * 120);
}

TEST_CASE("A forked child has threads of its own", "[parallel]") {
  parallel_for(100, 4, [](index_t, int) {});  // so that the parent has threads
  const pid_t child = ::fork();
  if (child == 0) {
    std::atomic<index_t> sum{0};
    std::latch both(2);
    parallel_for(2, 2, [&](index_t i, int) {
      both.arrive_and_wait();
      sum += i + 1;
    });
    ::_exit(sum == 3 ? 0 : 1);
  }
  int status = 0;
  REQUIRE(::waitpid(child, &status, 0) == child);
  CHECK(WIFEXITED(status));
  CHECK(WEXITSTATUS(status) == 0);
}
