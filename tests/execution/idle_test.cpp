// Nothing spins when idle: a process that sleeps after its calls uses no time of the CPU.
#include <sys/resource.h>
#include <sys/time.h>

#include <chrono>
#include <thread>

#include <gpu/similarity.hpp>

#include "support/catch.hpp"
#include "support/generators.hpp"

namespace {

/// User and system time of all threads of this process, in seconds.
double cpu_seconds() {
  rusage used{};
  REQUIRE(getrusage(RUSAGE_SELF, &used) == 0);
  const auto seconds = [](const timeval& t) {
    return static_cast<double>(t.tv_sec) + 1e-6 * static_cast<double>(t.tv_usec);
  };
  return seconds(used.ru_utime) + seconds(used.ru_stime);
}

double cpu_seconds_of_sleep(int milliseconds) {
  const double before = cpu_seconds();
  std::this_thread::sleep_for(std::chrono::milliseconds(milliseconds));
  return cpu_seconds() - before;
}

}  // namespace

TEST_CASE("An idle process uses no time of the CPU", "[threads]") {
  const auto data = gpu_test::random_matrix<float>(400, 200, 1);
  const gpu::execution exec{.target = gpu::backend::cpu, .cpu_threads = 2};
  const auto kept = gpu::spearman_all_pairs(data.view(), {.exec = exec},
                                            gpu::count_sink{.keep = {.max_p = 0.05}});
  CHECK(kept.tested == 400 * 399 / 2);
  const auto product =
      gpu::matmul(data.view(), data.view(), {.b = gpu::transposition::transpose, .exec = exec});
  CHECK(product.rows() == 400);

  // OpenBLAS's threads wait for the next call for some milliseconds before they sleep, which take
  // longer where other processes want the CPU.
  const double winding_down = cpu_seconds_of_sleep(500);
  double idle = cpu_seconds_of_sleep(1000);
  for (int again = 0; again < 5 && idle >= 0.01; ++again) idle = cpu_seconds_of_sleep(1000);
  INFO(winding_down << " s in the first half second");
  CHECK(idle < 0.01);
}
