#pragma once
// OpenMP loops that carry exceptions to the calling thread.

#include <omp.h>

#include <algorithm>
#include <atomic>
#include <exception>

#include <gpu/index.hpp>

#include "base/index_range.hpp"
#include "base/poll_progress.hpp"

namespace gpu::inline v0::detail {

/// The most threads that a call starts, whatever is asked for: OpenMP ends the process where the
/// system refuses one, and more than a few a core gain nothing.
inline int most_threads() {
  constexpr int per_core = 4;
  constexpr int always = 64;  // so that a test on two cores still has a team
  return std::max(always, per_core * omp_get_num_procs());
}

/// Threads of a call: `asked`, that is execution.cpu_threads, or OpenMP's default
/// (OMP_NUM_THREADS) where it is 0; at most most_threads().
inline int thread_count(int asked) {
  return std::clamp(asked > 0 ? asked : omp_get_max_threads(), 1, most_threads());
}

/// body(index, thread) for index in [0, count), handed out one at a time to exactly `team` threads,
/// so that one loop behind another has the same team: GCC's OpenMP ends the threads that a smaller
/// team leaves out, and starts them anew for the next larger one. A single index takes no team.
/// The first exception ends the loop early and is thrown to the caller; so is that of the call's
/// progress callback, which is polled before each index.
template <class Body>
void parallel_for_team(index_t count, int team, const Body& body) {
  if (team == 1 || count <= 1) {
    for (index_t i = 0; i < count; ++i) {
      if (i > 0) detail::poll_progress();
      body(i, 0);
    }
    return;
  }
  std::exception_ptr failure;
  std::atomic<bool> failed{false};
#pragma omp parallel for schedule(dynamic, 1) num_threads(team)
  for (index_t i = 0; i < count; ++i) {
    if (failed.load(std::memory_order_relaxed)) continue;
    try {
      detail::poll_progress();
      body(i, omp_get_thread_num());
    } catch (...) {
      if (!failed.exchange(true)) failure = std::current_exception();
    }
  }
  if (failed) std::rethrow_exception(failure);
}

/// As parallel_for_team, with `threads` threads, but no more than there are indexes.
template <class Body>
void parallel_for(index_t count, int threads, const Body& body) {
  parallel_for_team(count, static_cast<int>(std::clamp<index_t>(count, 1, threads)), body);
}

/// body(range, thread) for [0, count) in ranges of `size`, the last one of what is left: as
/// parallel_for hands out indexes.
template <class Body>
void parallel_for_ranges(index_t count, index_t size, int threads, const Body& body) {
  parallel_for((count + size - 1) / size, threads, [&](index_t number, int thread) {
    const index_t begin = number * size;
    body(detail::index_range{begin, std::min(count, begin + size)}, thread);
  });
}

}  // namespace gpu::inline v0::detail
