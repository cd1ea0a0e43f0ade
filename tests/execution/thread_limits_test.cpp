// execution::cpu_threads is kept by every operation: pthread_create is counted while it runs, and
// OMP_NUM_THREADS is a number that would stand out. Threads stay once they are started, so the
// smallest limits come first.
#include <cstdlib>
#include <thread>

#include "execution/counted_threads.hpp"
#include "execution/every_operation.hpp"
#include "support/catch.hpp"

namespace {

constexpr int default_threads = 12;

void set_default_threads() {
  ::setenv("OMP_NUM_THREADS", std::to_string(default_threads).c_str(), 1);
}

}  // namespace

TEST_CASE("A call with cpu_threads of 1 starts no thread", "[threads]") {
  set_default_threads();
  for (const gpu_test::operation& each : gpu_test::every_operation()) {
    INFO(each.name);
    const int before = gpu_test::threads_created();
    (void)each.call({.target = gpu::backend::cpu, .cpu_threads = 1});
    CHECK(gpu_test::threads_created() == before);
  }
}

TEST_CASE("A call does without the threads that the system refuses", "[threads]") {
  set_default_threads();
  for (const gpu_test::operation& each : gpu_test::every_operation()) {
    INFO(each.name);
    // OpenBLAS waits for threads that it does not get.
    if (each.name == "matmul" || each.name == "connectivity and overlap") continue;
    const auto expected = each.call({.target = gpu::backend::cpu, .cpu_threads = 1});
    gpu_test::refuse_threads(true);
    const auto found = each.call({.target = gpu::backend::cpu});
    gpu_test::refuse_threads(false);
    CHECK(found == expected);
  }
}

TEST_CASE("A call with cpu_threads of 2 has no more of a kind", "[threads]") {
  set_default_threads();
  for (const gpu_test::operation& each : gpu_test::every_operation()) {
    INFO(each.name);
    const int before = gpu_test::threads_alive();
    (void)gpu_test::most_threads_alive();
    (void)each.call({.target = gpu::backend::cpu, .cpu_threads = 2});
    // One that computes with the caller, and two that write.
    CHECK(gpu_test::most_threads_alive() <= before + 3);
  }
}

TEST_CASE("A call that is told no number has OMP_NUM_THREADS, so that the limits can fail",
          "[threads]") {
  set_default_threads();
  const int before = gpu_test::threads_created();
  (void)gpu::shared_observations(gpu_test::counts());
  CHECK(gpu_test::threads_created() > before + 1);
  CHECK(gpu_test::threads_created() < before + default_threads);
}
