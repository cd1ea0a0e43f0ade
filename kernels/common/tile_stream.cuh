#pragma once
// Tiles of a walk, sent for by one thread ahead of those that multiply them.

#include <cstdint>

#include "kernels/common/bulk_copy.cuh"

namespace gpu::kernels {

#if defined(__CUDA_ARCH_FEAT_SM90_ALL)

/// What thread 0 keeps between two tiles that it sends for: stands in shared memory, so that the
/// registers are left to the sums; `more` is volatile so that no other thread reads it ahead.
///
/// cursor: a position in the walk, with the members `item`, `tile` and `last_tile`. The function
/// `locate(cursor&)` finds the tiles of an item and returns false at the end of the work; a block
/// takes every gridDim.x-th item.
template <class cursor, int stages, unsigned tile_bytes>
struct tile_stream {
  cursor at;
  ring_place<stages> place;
  volatile unsigned more;

  /// Thread 0: prepares the ring, which `readers` release, and sends for the first tiles from the
  /// item of `first` on.
  template <class Locate>
  __device__ __forceinline__ void start(const std::uint8_t* tiles,
                                        const copy_ring<stages, tile_bytes>& ring, int readers,
                                        cursor first, const Locate& locate) {
    ring.init(readers);
    more = locate(first) ? 1 : 0;
    at = first;
    place = {0, 0};
    // One stage of slack where there are enough: then no warpgroup waits for the slowest.
    constexpr int ahead = stages > 2 ? stages - 2 : 1;
    for (int stage = 0; stage < ahead; ++stage) send_next(tiles, ring, locate);
  }

  /// Thread 0: sends for the next tile of the walk, once its stage is free.
  template <class Locate>
  __device__ __forceinline__ void send_next(const std::uint8_t* tiles,
                                            const copy_ring<stages, tile_bytes>& ring,
                                            const Locate& locate) {
    if (more == 0) return;
    cursor from = at;
    ring_place<stages> to = place;
    ring.fill(to, tiles + static_cast<std::size_t>(from.tile) * tile_bytes);
    to.advance();
    place = to;
    if (++from.tile == from.last_tile) {
      from.item += static_cast<decltype(from.item)>(gridDim.x);
      more = locate(from) ? 1 : 0;
    }
    at = from;
  }
};

#endif

}  // namespace gpu::kernels
