#pragma once
// Hopper's bulk copies into and out of shared memory, and the barriers that count their bytes
// (sm_90).

#include <cstdint>

namespace gpu::kernels {

__device__ __forceinline__ unsigned shared_address(const void* pointer) {
  return static_cast<unsigned>(__cvta_generic_to_shared(pointer));
}

#if __CUDA_ARCH__ >= 900

__device__ __forceinline__ void barrier_init(unsigned barrier, int arrivals) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(barrier), "r"(arrivals));
}
/// Makes initialised barriers visible to the copy engine.
__device__ __forceinline__ void barrier_init_fence() {
  asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
}
__device__ __forceinline__ void barrier_arrive(unsigned barrier) {
  asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(barrier) : "memory");
}
/// Arrives and announces `bytes` that a bulk copy will deliver.
__device__ __forceinline__ void barrier_expect(unsigned barrier, unsigned bytes) {
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(barrier), "r"(bytes)
               : "memory");
}
/// Waits until the phase with this parity is complete.
__device__ __forceinline__ void barrier_wait(unsigned barrier, unsigned parity) {
  asm volatile(
      "{\n.reg .pred done;\n"
      "again%=:\nmbarrier.try_wait.parity.shared::cta.b64 done, [%0], %1;\n"
      "@done bra over%=;\nbra again%=;\n"
      "over%=:\n}" ::"r"(barrier),
      "r"(parity)
      : "memory");
}
/// Copies `bytes` (a multiple of 16, both ends 16-byte aligned) and completes on `barrier`.
__device__ __forceinline__ void bulk_copy(unsigned destination, const void* source, unsigned bytes,
                                          unsigned barrier) {
  asm volatile(
      "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::
          "r"(destination),
      "l"(source), "r"(bytes), "r"(barrier)
      : "memory");
}
/// Copies `bytes` (a multiple of 16, both ends 16-byte aligned) from shared to global memory.
/// Several of these by one thread are one group once bulk_copies_commit() is called.
__device__ __forceinline__ void bulk_copy_out(void* destination, const void* source,
                                              unsigned bytes) {
  asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;" ::"l"(
                   __cvta_generic_to_global(destination)),
               "r"(shared_address(source)), "r"(bytes)
               : "memory");
}
__device__ __forceinline__ void bulk_copies_commit() {
  asm volatile("cp.async.bulk.commit_group;" ::: "memory");
}
/// Waits until all groups of the calling thread have read their sources.
__device__ __forceinline__ void bulk_copies_wait_read() {
  asm volatile("cp.async.bulk.wait_group.read 0;" ::: "memory");
}
/// Orders ordinary writes to shared memory before what the tensor cores or the copy engine read.
__device__ __forceinline__ void async_proxy_fence() {
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
}
/// Barrier of one warpgroup (128 threads); id 0 is __syncthreads.
__device__ __forceinline__ void warpgroup_sync(int id) {
  asm volatile("bar.sync %0, 128;" ::"r"(id) : "memory");
}

#endif

}  // namespace gpu::kernels
