#pragma once
// Clusters of blocks (compute capability 9.0): barriers and bulk copies from one block to another.

#include "kernels/common/bulk_copy.cuh"

/// Before __launch_bounds__ of a kernel. Older devices have no clusters, and their compilation
/// refuses the word.
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900
#define GPU_SIMILARITY_CLUSTER(blocks) __cluster_dims__(blocks, 1, 1)
#else
#define GPU_SIMILARITY_CLUSTER(blocks)
#endif

namespace gpu::kernels {

#if __CUDA_ARCH__ >= 900

__device__ __forceinline__ int cluster_rank() {
  unsigned rank;
  asm volatile("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
  return static_cast<int>(rank);
}
__device__ __forceinline__ void cluster_sync() {
  asm volatile("barrier.cluster.arrive.release.aligned;\nbarrier.cluster.wait.acquire.aligned;\n" ::
                   : "memory");
}
/// Arrives at the same barrier in block `rank` of the cluster: what was copied here has been read.
/// The arrival does not publish the writes of this thread. One with the cluster's scope would wait
/// for all of them, and the matching wait would empty the L1 cache; either costs more than a stage
/// of a ring.
__device__ __forceinline__ void barrier_arrive_at(unsigned barrier, int rank) {
  asm volatile(
      "{\n.reg .b32 remote;\n"
      "mapa.shared::cluster.u32 remote, %0, %1;\n"
      "mbarrier.arrive.shared::cluster.b64 _, [remote];\n}\n" ::"r"(barrier),
      "r"(rank)
      : "memory");
}
/// bulk_copy to the same place in every block of the cluster whose bit is set in `blocks`, each
/// copy completing on the same barrier of its block.
__device__ __forceinline__ void bulk_copy_to_cluster(unsigned destination, const void* source,
                                                     unsigned bytes, unsigned barrier,
                                                     unsigned short blocks) {
  asm volatile(
      "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster "
      "[%0], [%1], %2, [%3], %4;" ::"r"(destination),
      "l"(source), "r"(bytes), "r"(barrier), "h"(blocks)
      : "memory");
}

#endif

}  // namespace gpu::kernels
