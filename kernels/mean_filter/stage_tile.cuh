#pragma once
// Brings a tile of a row to shared memory: one bulk copy by the copy engine of sm_90 and newer,
// 16-byte loads elsewhere, element by element where the tile reaches beyond the row.

#include "kernels/mean_filter/filter_args.cuh"

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

/// Begins to bring `count` places of the extended row from place `first` on into `room` (16-byte
/// aligned, count elements and stage_slack bytes); returns where the first of them will stand. All
/// threads of the block call it, then await_tile.
template <class In, class Out>
__device__ In* begin_tile(const filter_args<In, Out>& args, const In* row, index_t first, int count,
                          unsigned char* room, copy_barrier& barrier, bool& bulk) {
  bulk = false;
  if (!args.inside(first, first + count)) {
    In* tile = reinterpret_cast<In*>(room);
    for (int i = threadIdx.x; i < count; i += blockDim.x) tile[i] = args.extended(row, first + i);
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
  bulk = whole > 0;
  if (threadIdx.x == 0 && bulk) {
    copy_bulk(tile + head, from + head, static_cast<unsigned>(whole) * sizeof(In), barrier);
  }
#else
  const auto* pieces = reinterpret_cast<const uint4*>(from + head);
  auto* room_pieces = reinterpret_cast<uint4*>(tile + head);
  for (int i = threadIdx.x; i < whole / per_piece; i += blockDim.x) room_pieces[i] = pieces[i];
  static_cast<void>(barrier);
#endif
  if (static_cast<int>(threadIdx.x) < head) tile[threadIdx.x] = from[threadIdx.x];
  if (static_cast<int>(threadIdx.x) < tail) {
    tile[head + whole + threadIdx.x] = from[head + whole + threadIdx.x];
  }
  return tile;
}

/// Waits for the tile that begin_tile asked for: all threads may read it then.
__device__ inline void await_tile(copy_barrier& barrier, bool bulk, unsigned& phase) {
#if __CUDA_ARCH__ >= 900
  if (bulk) {
    wait_barrier(barrier, phase);
    phase ^= 1;
  }
#endif
  __syncthreads();
}

/// Writes `count` results of the block to `to`: one bulk copy where the tile is full and aligned.
/// `results` may be written again after results_read().
template <class Out>
__device__ void write_tile(Out* to, const Out* results, int count, int full) {
#if __CUDA_ARCH__ >= 900
  const bool aligned = (reinterpret_cast<std::uintptr_t>(to) & 15) == 0 &&
                       static_cast<unsigned>(full) * sizeof(Out) % 16 == 0;
  if (count == full && aligned) {
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    __syncthreads();
    if (threadIdx.x == 0) {
      asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;" ::"l"(
                       __cvta_generic_to_global(to)),
                   "r"(shared_address(results)),
                   "r"(static_cast<unsigned>(full) * static_cast<unsigned>(sizeof(Out)))
                   : "memory");
      asm volatile("cp.async.bulk.commit_group;" ::: "memory");
    }
    return;
  }
#endif
  __syncthreads();
  for (int i = threadIdx.x; i < count; i += blockDim.x) to[i] = results[i];
#if __CUDA_ARCH__ >= 900
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
#endif
}

/// Waits until what write_tile was given has been read, and lets bulk copies overwrite it.
__device__ inline void results_read() {
#if __CUDA_ARCH__ >= 900
  if (threadIdx.x == 0) asm volatile("cp.async.bulk.wait_group.read 0;" ::: "memory");
#endif
  __syncthreads();
}

}  // namespace gpu::kernels
