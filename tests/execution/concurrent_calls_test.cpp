// Every operation of the CPU backend from several threads at once: each call gives the bytes that
// the same call gives alone. Built with the preset `tsan`, it also finds what only luck keeps
// right.
#include <cstddef>
#include <thread>
#include <vector>

#include "execution/every_operation.hpp"
#include "support/catch.hpp"

using gpu_test::answer;
using gpu_test::every_operation;
using gpu_test::operation;

TEST_CASE("Calls from several threads do not meet", "[threads]") {
  const auto all = every_operation();
  constexpr std::size_t callers = 4;
  for (const int cpu_threads : {1, 2}) {
    const gpu::execution exec{.target = gpu::backend::cpu, .cpu_threads = cpu_threads};
    std::vector<answer> alone;
    for (const operation& each : all) alone.push_back(each.call(exec));

    // Every caller begins with another operation, and two of them with the same one.
    std::vector<std::vector<answer>> got(callers, std::vector<answer>(all.size()));
    std::vector<std::jthread> threads;
    for (std::size_t caller = 0; caller < callers; ++caller) {
      threads.emplace_back([&, caller] {
        for (std::size_t turn = 0; turn < all.size(); ++turn) {
          const std::size_t at = (turn + caller / 2 * (all.size() / 2)) % all.size();
          got[caller][at] = all[at].call(exec);
        }
      });
    }
    threads.clear();
    for (std::size_t at = 0; at < all.size(); ++at) {
      INFO(all[at].name << " with cpu_threads " << cpu_threads);
      std::size_t differing = 0;
      for (const auto& answers : got) {
        if (answers[at] != alone[at]) ++differing;
      }
      CHECK(differing == 0);
    }
  }
}
