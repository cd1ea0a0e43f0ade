#include "cpu/pairs/choice/cpu_pair_way.hpp"

#include <fmt/format.h>

#include <cmath>

namespace gpu::cpu {
namespace {

std::string cost_of(double nanoseconds) {
  return std::isfinite(nanoseconds) ? fmt::format("{:.2g} ns", nanoseconds) : "not offered";
}

std::string what_happens(cpu_pair_way way, const pair_estimate& estimate) {
  switch (way) {
    case cpu_pair_way::screen:
      return fmt::format("screened by 8-bit products: they leave {:.2g} of the pairs to decide",
                         estimate.candidates);
    case cpu_pair_way::search:
      return fmt::format("searched by sums of products: they leave {:.2g} of the pairs to decide",
                         estimate.kept);
    case cpu_pair_way::every:
      break;
  }
  return fmt::format("every pair is decided: the cut keeps {:.2g} of them", estimate.kept);
}

}  // namespace

std::string explain_cpu_way(const cpu_way_choice& choice, const pair_estimate& estimate) {
  return fmt::format("{}, of {} sampled; a pair by screen {}, by search {}, by deciding it {}",
                     what_happens(choice.way, estimate), estimate.sampled, cost_of(choice.screen),
                     cost_of(choice.search), cost_of(choice.every));
}

}  // namespace gpu::cpu
