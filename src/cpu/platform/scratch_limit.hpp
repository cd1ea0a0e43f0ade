#pragma once
// Keeps execution.workspace_bytes on the CPU, where scratch memory is mostly a thread's own.

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>

#include <gpu/error.hpp>
#include <gpu/execution.hpp>

namespace gpu::cpu {

/// What a call works in, bytes.
struct scratch_need {
  std::size_t fixed = 0;   ///< Whatever the threads.
  std::size_t thread = 0;  ///< Of each thread.
};

/// At most `threads`, as many as the limit holds the scratch of.
/// @throw gpu::out_of_memory where it does not hold that of one; `what` is the subject.
inline int threads_within(const execution& exec, const char* what, int threads,
                          const scratch_need& need) {
  const std::size_t limit = exec.workspace_bytes;
  if (limit == 0 || need.fixed + need.thread == 0) return threads;
  if (limit < need.fixed || limit - need.fixed < need.thread) {
    throw out_of_memory(fmt::format("options.exec.workspace_bytes: got {}, {} takes {} bytes",
                                    limit, what, need.fixed + need.thread),
                        need.fixed + need.thread);
  }
  if (need.thread == 0) return threads;
  const std::size_t most = (limit - need.fixed) / need.thread;
  return static_cast<int>(std::min(static_cast<std::size_t>(threads), most));
}

}  // namespace gpu::cpu
