#pragma once
// Brings a tile of a row to shared memory: one bulk copy by the copy engine of sm_90 and newer,
// 16-byte loads elsewhere, element by element where the tile reaches beyond the row.

#include "mean_filter/filter_args.cuh"

namespace gpu::kernels {

/// Room that stage_tile wants before and after the elements, in bytes.
inline constexpr int stage_slack = 32;

__device__ inline unsigned shared_address(const void* p) {
  return static_cast<unsigned>(__cvta_generic_to_shared(p));
}

/// The barrier of a block's bulk copies; its phase is kept by the caller.
struct copy_barrier {
  unsigned long long state;
};

__device__ inline void init_barrier(copy_barrier& barrier) {
#if __CUDA_ARCH__ >= 900
  if (threadIdx.x == 0) {
    asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(shared_address(&barrier))
                 : "memory");
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
  }
  __syncthreads();
#else
  static_cast<void>(barrier);
#endif
}

#if __CUDA_ARCH__ >= 900
__device__ inline void copy_bulk(void* to, const void* from, unsigned bytes,
                                 copy_barrier& barrier) {
  asm volatile(
      "mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(shared_address(&barrier)),
      "r"(bytes)
      : "memory");
  asm volatile(
      "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::
          "r"(shared_address(to)),
      "l"(__cvta_generic_to_global(from)), "r"(bytes), "r"(shared_address(&barrier))
      : "memory");
}

__device__ inline void wait_barrier(copy_barrier& barrier, unsigned phase) {
  asm volatile(
      "{\n"
      ".reg .pred done;\n"
      "again:\n"
      "mbarrier.try_wait.parity.shared::cta.b64 done, [%0], %1;\n"
      "@!done bra again;\n"
      "}\n" ::"r"(shared_address(&barrier)),
      "r"(phase)
      : "memory");
}
#endif

/// Stages `count` places of the extended row from place `first` on into `room` (16-byte aligned,
/// count elements and stage_slack bytes); returns where the first of them stands. All threads of
/// the block call it; the elements may be read when it returns.
template <class In, class Out>
__device__ In* stage_tile(const filter_args<In, Out>& args, const In* row, index_t first, int count,
                          unsigned char* room, copy_barrier& barrier, unsigned& phase) {
  if (!args.inside(first, first + count)) {
    In* tile = reinterpret_cast<In*>(room);
    for (int i = threadIdx.x; i < count; i += blockDim.x) tile[i] = args.extended(row, first + i);
    __syncthreads();
    return tile;
  }
  // The tile keeps the alignment of its source: whole 16-byte pieces go at once, and the elements
  // before and after them one by one (reading whole pieces there could leave the array).
  const In* from = row + first;
  const auto misaligned = static_cast<int>(reinterpret_cast<std::uintptr_t>(from) & 15);
  In* tile = reinterpret_cast<In*>(room + misaligned);
  constexpr int per_piece = 16 / static_cast<int>(sizeof(In));
  int head = ((16 - misaligned) & 15) / static_cast<int>(sizeof(In));
  head = head < count ? head : count;
  const int whole = (count - head) / per_piece * per_piece;
  const int tail = count - head - whole;
#if __CUDA_ARCH__ >= 900
  if (threadIdx.x == 0 && whole > 0) {
    copy_bulk(tile + head, from + head, static_cast<unsigned>(whole) * sizeof(In), barrier);
  }
#else
  const auto* pieces = reinterpret_cast<const uint4*>(from + head);
  auto* room_pieces = reinterpret_cast<uint4*>(tile + head);
  for (int i = threadIdx.x; i < whole / per_piece; i += blockDim.x) room_pieces[i] = pieces[i];
#endif
  if (static_cast<int>(threadIdx.x) < head) tile[threadIdx.x] = from[threadIdx.x];
  if (static_cast<int>(threadIdx.x) < tail) {
    tile[head + whole + threadIdx.x] = from[head + whole + threadIdx.x];
  }
#if __CUDA_ARCH__ >= 900
  if (whole > 0) {
    wait_barrier(barrier, phase);
    phase ^= 1;
  }
#endif
  __syncthreads();
  return tile;
}

/// Makes the block's ordinary accesses to shared memory precede its next bulk copy into it.
__device__ inline void fence_tile() {
#if __CUDA_ARCH__ >= 900
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
#endif
  __syncthreads();
}

}  // namespace gpu::kernels
