#pragma once
// Loops that several threads share, and how many threads a call has.

#include <algorithm>
#include <cstddef>
#include <memory>
#include <vector>

#include <gpu/export.hpp>
#include <gpu/index.hpp>

#include "base/function_ref.hpp"
#include "base/index_range.hpp"

namespace gpu::inline v0::detail {

/// The most threads that a call has, whatever is asked for: more than a few a core gain nothing.
GPU_SIMILARITY_EXPORT int most_threads();

/// Threads of a call: `asked`, that is execution.cpu_threads, or where it is 0 the first number of
/// OMP_NUM_THREADS, else the processors that this process may use; at most OMP_THREAD_LIMIT of the
/// latter two, and at most most_threads().
GPU_SIMILARITY_EXPORT int thread_count(int asked);

/// Of the body of a loop: an index, and which of its threads calls, from 0.
using loop_body = function_ref<void(index_t, int)>;

/// body(index, thread) for index in [0, count), handed out one at a time to the calling thread and
/// at most `threads` - 1 others. A thread that the system does not run is never waited for: the
/// others take what is left. So an index must not wait for another one. Loops within a loop have
/// one thread.
///
/// The first exception ends the loop early and is thrown to the caller; so is an exception of the
/// call's progress callback, which the calling thread polls before each index.
GPU_SIMILARITY_EXPORT void parallel_for(index_t count, int threads, loop_body body);

/// body(state, index) as parallel_for, with a state for each thread: what make(thread) returns when
/// the thread begins.
template <class Make, class Body>
void parallel_for_with(index_t count, int threads, const Make& make, const Body& body) {
  using state = decltype(make(0));
  std::vector<std::unique_ptr<state>> states(static_cast<std::size_t>(std::max(threads, 1)));
  parallel_for(count, threads, [&](index_t index, int thread) {
    std::unique_ptr<state>& own = states[static_cast<std::size_t>(thread)];
    if (own == nullptr) own.reset(new state(make(thread)));
    body(*own, index);
  });
}

/// body(range, thread) for [0, count) in ranges of `size`, the last one of what is left: as
/// parallel_for hands out indexes.
template <class Body>
void parallel_for_ranges(index_t count, index_t size, int threads, const Body& body) {
  parallel_for((count + size - 1) / size, threads, [&](index_t number, int thread) {
    const index_t begin = number * size;
    body(index_range{begin, std::min(count, begin + size)}, thread);
  });
}

/// body(index, thread) for every index in [0, count), by ranges of `size`: where an index alone is
/// too little work to hand out.
template <class Body>
void parallel_for_each(index_t count, index_t size, int threads, const Body& body) {
  parallel_for_ranges(count, size, threads, [&](index_range some, int thread) {
    for (index_t i = some.begin; i < some.end; ++i) body(i, thread);
  });
}

}  // namespace gpu::inline v0::detail
