// execution::cpu_threads is kept by every operation: pthread_create is counted while it runs, and
// OpenMP's default is a number that would stand out.
#include <omp.h>

#include <thread>

#include "execution/counted_threads.hpp"
#include "execution/every_operation.hpp"
#include "support/catch.hpp"

namespace {

constexpr int default_threads = 12;

// GCC's OpenMP ends the threads that a smaller team leaves out, so that a larger one starts them
// anew, and is counted.
void end_larger_teams() {
#pragma omp parallel num_threads(2)
  {
  }
}

}  // namespace

TEST_CASE("Threads are counted", "[threads]") {
  const int before = gpu_test::threads_created();
  std::thread([] {}).join();
  CHECK(gpu_test::threads_created() == before + 1);
  // A call that is told no number takes OpenMP's, each time: the limits below can fail.
  omp_set_num_threads(default_threads);
  for (int again = 0; again < 2; ++again) {
    end_larger_teams();
    const int now = gpu_test::threads_created();
    (void)gpu::shared_observations(gpu_test::counts());
    CHECK(gpu_test::threads_created() > now + 1);
  }
}

TEST_CASE("A call with cpu_threads of 1 starts no thread", "[threads]") {
  omp_set_num_threads(default_threads);
  for (const gpu_test::operation& each : gpu_test::every_operation()) {
    INFO(each.name);
    end_larger_teams();
    const int before = gpu_test::threads_created();
    (void)each.call({.target = gpu::backend::cpu, .cpu_threads = 1});
    CHECK(gpu_test::threads_created() == before);
  }
}

TEST_CASE("A call with cpu_threads of 2 has no more of a kind", "[threads]") {
  omp_set_num_threads(default_threads);
  for (const gpu_test::operation& each : gpu_test::every_operation()) {
    INFO(each.name);
    end_larger_teams();
    const int before = gpu_test::threads_alive();
    (void)gpu_test::most_threads_alive();
    (void)each.call({.target = gpu::backend::cpu, .cpu_threads = 2});
    // The caller, one of OpenMP's or OpenBLAS', and two that write.
    CHECK(gpu_test::most_threads_alive() <= before + 3);
  }
}
