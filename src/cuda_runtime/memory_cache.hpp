#pragma once
// Memory that is kept between calls. To allocate page-locked host memory takes the driver 0.3 ms a
// megabyte, and the device's memory pool returns everything to the driver unless told otherwise.

#include <cuda_runtime_api.h>

#include <cstddef>

namespace gpu::cuda {

/// Returns at least `bytes` of page-locked host memory: a block that was given back before, or a
/// new one.
/// @throw gpu::out_of_memory, gpu::cuda_error as cudaMallocHost fails.
void* take_pinned(std::size_t bytes);
/// Takes back what take_pinned(bytes) returned, and keeps it for later calls, up to 192 MiB in all.
/// No copy from or to it may be under way. During stack unwinding one may be, so the memory is
/// freed instead, which waits for the copy.
void give_back_pinned(void* memory, std::size_t bytes) noexcept;

/// While it lives, the calls of this thread that a capture of a stream forbids are made all the
/// same: settings of a pool, and memory that outlives the call, are no work of a stream.
class outside_of_captures {
 public:
  outside_of_captures();
  ~outside_of_captures();
  outside_of_captures(const outside_of_captures&) = delete;
  outside_of_captures& operator=(const outside_of_captures&) = delete;

 private:
  cudaStreamCaptureMode mode_;
};

/// Lets the memory pool of the current device keep up to 12 GiB between calls, or a twelfth of the
/// device's memory where that is less, unless the program has set a release threshold itself; the
/// pool is asked once. To map a gigabyte anew takes 2.5 ms.
void keep_pool_memory();

}  // namespace gpu::cuda
