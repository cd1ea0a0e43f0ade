#pragma once
// How loops far below a call, which do not know whose work they do, let the call's progress
// callback end it.

#include <algorithm>

#include <gpu/index.hpp>

namespace gpu::inline v0::detail {

/// What a loop polls.
class pollable {
 public:
  /// May throw gpu::cancelled, or what the callback throws.
  virtual void poll() = 0;
  virtual ~pollable() = default;
};

/// The running call of this thread, where it asked for that. Callbacks run on the thread of the
/// call, so the other threads of a loop have nothing to poll.
inline constinit thread_local pollable* polled_on_this_thread = nullptr;

/// Between two pieces of work of some microseconds or more, on any thread.
inline void poll_progress() {
  if (polled_on_this_thread != nullptr) polled_on_this_thread->poll();
}

/// body(begin, end) for pieces of [0, count) of less than a tenth of a second each, where an
/// element takes some nanoseconds; polls between them.
template <class Body>
void in_polled_pieces(index_t count, const Body& body) {
  constexpr index_t most = index_t{1} << 22;
  for (index_t begin = 0; begin < count; begin += most) {
    if (begin > 0) poll_progress();
    body(begin, std::min(count, begin + most));
  }
}

}  // namespace gpu::inline v0::detail
