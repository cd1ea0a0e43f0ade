#pragma once
// cp.async: copies from global to shared memory that run beside the arithmetic (sm_80 and newer).
// Before, each function copies by loads and stores, and there is nothing to wait for.

#include <cstdint>

#include "cuda_runtime/device_code.hpp"

namespace gpu::kernels {

/// 16 bytes; zeros where `there` is false. Both addresses aligned to 16.
__device__ inline void async_copy_16(void* shared, const void* global, bool there) {
#if __CUDA_ARCH__ >= 800
  const auto address = static_cast<std::uint32_t>(__cvta_generic_to_shared(shared));
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(address), "l"(global),
               "r"(there ? 16 : 0));
#else
  *static_cast<int4*>(shared) = there ? *static_cast<const int4*>(global) : make_int4(0, 0, 0, 0);
#endif
}
/// 16 bytes, through L1, so that others may find them there. Both addresses aligned to 16.
__device__ inline void async_copy_16_by_l1(void* shared, const void* global) {
#if __CUDA_ARCH__ >= 800
  const auto address = static_cast<std::uint32_t>(__cvta_generic_to_shared(shared));
  asm volatile("cp.async.ca.shared.global [%0], [%1], 16;" ::"r"(address), "l"(global));
#else
  *static_cast<int4*>(shared) = *static_cast<const int4*>(global);
#endif
}
/// One element, aligned to its size; those of less than 4 bytes are there at once.
template <class T>
__device__ void async_copy_element(T* shared, const T* global) {
#if __CUDA_ARCH__ >= 800
  if constexpr (sizeof(T) == 4 || sizeof(T) == 8) {
    const auto address = static_cast<std::uint32_t>(__cvta_generic_to_shared(shared));
    asm volatile("cp.async.ca.shared.global [%0], [%1], %2;" ::"r"(address), "l"(global),
                 "n"(sizeof(T)));
    return;
  }
#endif
  *shared = *global;
}
__device__ inline void async_copy_commit() {
#if __CUDA_ARCH__ >= 800
  asm volatile("cp.async.commit_group;" ::: "memory");
#endif
}
/// Waits until at most `Pending` of this thread's groups are under way.
template <int Pending>
__device__ void async_copy_wait() {
#if __CUDA_ARCH__ >= 800
  asm volatile("cp.async.wait_group %0;" ::"n"(Pending) : "memory");
#endif
}

/// Whether copies run beside the arithmetic; where they do not, a block has 64 KiB of shared
/// memory. On the host, of the code that runs on the current device.
__host__ __device__ inline bool has_async_copies() {
#ifdef __CUDA_ARCH__
  return __CUDA_ARCH__ >= 800;
#else
  return cuda::current_code().capability >= 80;
#endif
}

/// Buffers of a ring that such copies fill: three, so that one more is under way while one is read.
__host__ __device__ inline int ring_stages() {
  return has_async_copies() ? 3 : 2;
}

}  // namespace gpu::kernels
