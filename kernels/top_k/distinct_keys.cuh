#pragma once
// Distinct keys of a block's composites, and how often they occur.

#include "kernels/common/launch.cuh"
#include "kernels/top_k/threshold.cuh"

namespace gpu::kernels::select {

/// Some occurrences of one key in one row.
template <class Composite>
struct counted_composite {
  Composite first;  ///< Key and lowest position.
  unsigned long long count;
};

/// The best `rank` distinct keys of the block's items (0 for none), taken one by one; the best
/// first in keys[0, rank). Returns how many there are. `scratch` holds 64 words.
template <class T, int Items, class Composite>
__device__ inline unsigned block_take_keys(const Composite (&items)[Items], unsigned rank,
                                           key_t<T>* keys, unsigned long long* scratch) {
  const unsigned warp = threadIdx.x / 32;
  const unsigned lane = threadIdx.x % 32;
  // The best key of the warp's values plus one, 0 without any.
  const auto best_of_warp = [](key_t<T> key, bool any) {
    if constexpr (sizeof(key_t<T>) == 4) {
      const key_t<T> best = warp_max_32(any ? key : key_t<T>{0});
      return __any_sync(full_warp, any) ? static_cast<unsigned long long>(best) + 1 : 0ull;
    } else {
      return warp_max(any ? static_cast<unsigned long long>(key) + 1 : 0ull);
    }
  };
  unsigned long long previous = ~0ull;
  unsigned taken = 0;
  while (taken < rank) {
    key_t<T> best = 0;
    bool any = false;
#pragma unroll
    for (int i = 0; i < Items; ++i) {
      const key_t<T> key = key_of<T>(items[i]);
      if (items[i] != 0 && static_cast<unsigned long long>(key) + 1 < previous) {
        any = true;
        best = key > best ? key : best;
      }
    }
    const unsigned long long mine = best_of_warp(best, any);
    // Two halves in turn, so that one barrier a round is enough.
    unsigned long long* half = scratch + (taken % 2) * 32;
    if (lane == 0) half[warp] = mine;
    __syncthreads();
    const unsigned long long there = lane < blockDim.x / 32 ? half[lane] : 0ull;
    previous = best_of_warp(static_cast<key_t<T>>(there - 1), there != 0);
    if (previous == 0) break;
    if (threadIdx.x == 0) keys[taken] = static_cast<key_t<T>>(previous - 1);
    ++taken;
  }
  __syncthreads();
  return taken;
}

}  // namespace gpu::kernels::select
