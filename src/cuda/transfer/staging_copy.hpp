#pragma once
// How CPU threads copy to and from page-locked memory, which the device reads or writes.

#include <algorithm>

#include "base/memory/stream_copy.hpp"
#include "base/parallel.hpp"

namespace gpu::cuda {

/// Threads of such a copy: execution.cpu_threads, or three quarters of the default where that is
/// 0. This leaves cores for the driver, which works meanwhile: on 16 cores, 80 MB take 1.8 ms by
/// 12 threads and 2.9 ms by 16.
inline int staging_threads(int asked) {
  return asked > 0 ? detail::thread_count(asked) : std::max(1, detail::thread_count(0) * 3 / 4);
}

using detail::stream_copy;

}  // namespace gpu::cuda
