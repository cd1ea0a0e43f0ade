#pragma once
// Memory that stays between calls: page-locked host memory takes the driver 0.3 ms a megabyte to
// make, and the device's pool gives everything back to the driver unless told to keep some.

#include <cstddef>

namespace gpu::cuda {

/// At least `bytes` of page-locked host memory, of those given back before or new.
/// @throw gpu::out_of_memory, gpu::cuda_error as cudaMallocHost fails.
void* take_pinned(std::size_t bytes);
/// Takes back what take_pinned(bytes) gave. No copy may be under way; where an exception is, which
/// may leave one, the memory goes to the driver, who waits for it. At most 64 MiB are kept.
void give_back_pinned(void* memory, std::size_t bytes) noexcept;

/// Lets the memory pool of the current device keep up to 1 GiB (a 64th of small devices) between
/// calls, unless the program has set how much.
void keep_pool_memory(std::size_t device_bytes);

}  // namespace gpu::cuda
