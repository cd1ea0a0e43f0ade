#pragma once
// cp.async: copies from global to shared memory that run beside the arithmetic (sm_80 and newer).

#include <cstdint>

namespace gpu::kernels {

/// 16 bytes; zeros where `there` is false. Both addresses aligned to 16.
__device__ inline void async_copy_16(void* shared, const void* global, bool there) {
#if __CUDA_ARCH__ >= 800
  const auto address = static_cast<std::uint32_t>(__cvta_generic_to_shared(shared));
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(address), "l"(global),
               "r"(there ? 16 : 0));
#endif
}
/// 16 bytes, through L1, so that others may find them there. Both addresses aligned to 16.
__device__ inline void async_copy_16_by_l1(void* shared, const void* global) {
#if __CUDA_ARCH__ >= 800
  const auto address = static_cast<std::uint32_t>(__cvta_generic_to_shared(shared));
  asm volatile("cp.async.ca.shared.global [%0], [%1], 16;" ::"r"(address), "l"(global));
#endif
}
/// 8 bytes, both addresses aligned to 8.
__device__ inline void async_copy_8(void* shared, const void* global) {
#if __CUDA_ARCH__ >= 800
  const auto address = static_cast<std::uint32_t>(__cvta_generic_to_shared(shared));
  asm volatile("cp.async.ca.shared.global [%0], [%1], 8;" ::"r"(address), "l"(global));
#endif
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

}  // namespace gpu::kernels
