#pragma once
// Properties of devices and kernels that every launch needs. The driver is asked once and the
// answer is kept, because a query takes as long as a launch, and some a hundred times as long. Safe
// to call from several threads.

#include <cstddef>

namespace gpu::cuda {

/// Constants of a device.
struct device_limits {
  int compute_major = 0;
  int compute_minor = 0;
  int multiprocessors = 0;
  std::size_t block_shared_bytes = 0;  ///< Shared memory a block may ask for, 64 KiB on sm_75.
  std::size_t memory_bytes = 0;        ///< Of the whole device.
};

/// The limits of the device with this ordinal.
const device_limits& limits_of(int device);
/// The limits of the current device.
const device_limits& current_limits();

/// Lets `kernel` use `bytes` of dynamic shared memory on the current device, which above 48 KiB
/// must be asked for. Never takes back what an earlier call allowed, so threads that launch one
/// kernel with different sizes do not collide.
void allow_shared_memory(const void* kernel, std::size_t bytes);
template <class... Parameters>
void allow_shared_memory(void (*kernel)(Parameters...), std::size_t bytes) {
  allow_shared_memory(reinterpret_cast<const void*>(kernel), bytes);
}

/// Blocks of `kernel` that a multiprocessor of the current device holds at once; at least 1.
int resident_blocks_per_multiprocessor(const void* kernel, int threads, std::size_t bytes);

}  // namespace gpu::cuda
