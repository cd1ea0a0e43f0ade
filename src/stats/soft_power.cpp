#include "stats/soft_power.hpp"

#include <algorithm>
#include <cstddef>
#include <numeric>

namespace gpu::stats {
namespace {

struct split_power {
  double fraction;
  int whole;
};

split_power split(double power) {
  const double whole = std::floor(power);
  return {power - whole, static_cast<int>(whole)};
}

}  // namespace

std::vector<power_step> power_steps(std::span<const double> powers) {
  std::vector<std::size_t> order(powers.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    const split_power left = split(powers[a]);
    const split_power right = split(powers[b]);
    return left.fraction != right.fraction ? left.fraction < right.fraction
                                           : left.whole < right.whole;
  });
  std::vector<power_step> steps;
  split_power before{.fraction = -1, .whole = 0};
  for (const std::size_t column : order) {
    const split_power next = split(powers[column]);
    const bool goes_on = next.fraction == before.fraction;
    steps.push_back({.fraction = goes_on ? -1 : next.fraction,
                     .factors = next.whole - (goes_on ? before.whole : 0),
                     .column = static_cast<int>(column)});
    before = next;
  }
  return steps;
}

std::vector<power_step> steps_from(std::span<const power_step> steps, std::size_t first) {
  std::vector<power_step> out(steps.begin() + static_cast<std::ptrdiff_t>(first), steps.end());
  for (std::size_t at = first; !out.empty() && out.front().fraction < 0;) {
    --at;
    out.front().factors += steps[at].factors;
    if (steps[at].fraction >= 0) out.front().fraction = steps[at].fraction;
  }
  return out;
}

}  // namespace gpu::stats
