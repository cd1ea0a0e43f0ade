#pragma once
// Brings a tile of a row to shared memory: one bulk copy by the copy engine of sm_90 and newer,
// 16-byte loads elsewhere, element by element where the tile reaches beyond the row.

#include <cstdint>

#include "kernels/common/bulk_copy.cuh"
#include "kernels/mean_filter/filter_args.cuh"

namespace gpu::kernels {

/// Room that stage_tile wants before and after the elements, in bytes.
inline constexpr int stage_slack = 32;

/// The barrier of a block's bulk copies; its phase is kept by the caller.
using copy_barrier = std::uint64_t;

/// Prepares `count` barriers for one copy at a time each. All threads call.
__device__ inline void init_barriers(copy_barrier* barriers, int count) {
#if __CUDA_ARCH__ >= 900
  if (threadIdx.x == 0) {
    for (int i = 0; i < count; ++i) barrier_init(shared_address(barriers + i), 1);
    barrier_init_fence();
  }
  __syncthreads();
#else
  static_cast<void>(barriers), static_cast<void>(count);
#endif
}

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
    const auto bytes = static_cast<unsigned>(whole * sizeof(In));
    barrier_expect(shared_address(&barrier), bytes);
    bulk_copy(shared_address(tile + head), from + head, bytes, shared_address(&barrier));
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
    barrier_wait(shared_address(&barrier), phase);
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
    async_proxy_fence();
    __syncthreads();
    if (threadIdx.x == 0) {
      bulk_copy_out(to, results, static_cast<unsigned>(full * sizeof(Out)));
      bulk_copies_commit();
    }
    return;
  }
#endif
  __syncthreads();
  for (int i = threadIdx.x; i < count; i += blockDim.x) to[i] = results[i];
#if __CUDA_ARCH__ >= 900
  async_proxy_fence();
#endif
}

/// Waits until what write_tile was given has been read, and lets bulk copies overwrite it.
__device__ inline void results_read() {
#if __CUDA_ARCH__ >= 900
  if (threadIdx.x == 0) bulk_copies_wait_read();
#endif
  __syncthreads();
}

}  // namespace gpu::kernels
