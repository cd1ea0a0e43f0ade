#pragma once
// What the tables of counting passes share: where each bin of p begins, in terms of what a test
// takes p of. Found on the host, to the last bit, by p itself.

#include <cstdint>
#include <limits>

#include <gpu/index.hpp>

#include "base/ordered_key.hpp"
#include "base/parallel.hpp"
#include "stats/bins.hpp"

namespace gpu::stats {

/// The least number in [from, to] for which `holds`, which never turns false again as it grows;
/// -infinity where it holds of `from`, infinity where not of `to`. By bisection of the numbers that
/// doubles have, at most 64 calls.
template <class Holds>
double least_double(double from, double to, const Holds& holds) {
  if (holds(from)) return -std::numeric_limits<double>::infinity();
  if (!holds(to)) return std::numeric_limits<double>::infinity();
  std::uint64_t below = detail::ordered_key(from);
  std::uint64_t above = detail::ordered_key(to);
  while (above - below > 1) {
    const std::uint64_t middle = below + (above - below) / 2;
    (holds(detail::value_of_key<double>(middle)) ? above : below) = middle;
  }
  return detail::value_of_key<double>(above);
}

/// work(k) of every step of a counting pass, by all threads.
template <class Work>
void for_each_step(const detail::p_bins& bins, int threads, const Work& work) {
  constexpr index_t steps_of_task = 256;
  detail::parallel_for_each(bins.bins + 1, steps_of_task, detail::thread_count(threads),
                            [&](index_t k, int) { work(k); });
}

}  // namespace gpu::stats
