#pragma once
// What a marching block (march.cuh) moves: the ring of input tiles and the tile of results.

#include "kernels/mean_filter/stage_tile.cuh"

namespace gpu::kernels {

/// The ring of a block: slot s of a run is at s % slots.
template <int K, int Threads, class In>
struct march_ring {
  static constexpr int tile = K * Threads;
  static constexpr int mirror = K;  // elements that stand again behind the last slot

  In* elements;
  copy_barrier* barriers;
  int slots;
  unsigned phases = 0;  // of each slot's barrier, a bit each

  /// Fills slot s with the places from `place` on. All threads call it; all reads of what the slot
  /// held are done.
  template <class Args>
  __device__ void load(const Args& args, const In* row, index_t place, int s) {
    const int at = s % slots;
    In* to = elements + at * tile;
    const bool inside = args.inside(place, place + tile);
#if __CUDA_ARCH__ >= 900
    if (inside) {
      if (threadIdx.x == 0) {
        constexpr auto bytes = static_cast<unsigned>(tile * sizeof(In));
        constexpr auto again = static_cast<unsigned>((mirror * sizeof(In) + 15) / 16 * 16);
        const unsigned barrier = shared_address(&barriers[at]);
        barrier_expect(barrier, at == 0 ? bytes + again : bytes);
        bulk_copy(shared_address(to), row + place, bytes, barrier);
        if (at == 0)
          bulk_copy(shared_address(elements + slots * tile), row + place, again, barrier);
      }
      return;
    }
#endif
    for (int i = static_cast<int>(threadIdx.x); i < tile; i += Threads) {
      const In x = inside ? row[place + i] : args.extended(row, place + i);
      to[i] = x;
      if (at == 0 && i < mirror) elements[slots * tile + i] = x;
    }
#if __CUDA_ARCH__ >= 900
    async_proxy_fence();
    if (threadIdx.x == 0) barrier_arrive(shared_address(&barriers[at]));
#endif
  }

  /// Waits for slot s, once each in order. Elements that threads stored need a __syncthreads().
  __device__ void await(int s) {
#if __CUDA_ARCH__ >= 900
    const int at = s % slots;
    barrier_wait(shared_address(&barriers[at]), (phases >> at) & 1);
    phases ^= 1u << at;
#else
    static_cast<void>(s);
#endif
  }
};

/// Writes outputs [begin, end) of a tile whose output 0 would be at `to`. Between two of these the
/// block passes a __syncthreads() that thread 0 reaches after results_taken().
template <int Tile, class Out>
__device__ void write_outputs(Out* to, const Out* results, int begin, int end) {
#if __CUDA_ARCH__ >= 900
  if (begin == 0 && end == Tile && reinterpret_cast<std::uintptr_t>(to) % 32 == 0) {
    if (threadIdx.x == 0) {
      bulk_copy_out(to, results, static_cast<unsigned>(Tile * sizeof(Out)));
      bulk_copies_commit();
    }
    return;
  }
#endif
  for (int i = begin + static_cast<int>(threadIdx.x); i < end; i += static_cast<int>(blockDim.x)) {
    to[i] = results[i];
  }
}

/// Thread 0: waits until the last bulk copy has read the results.
__device__ inline void results_taken() {
#if __CUDA_ARCH__ >= 900
  if (threadIdx.x == 0) bulk_copies_wait_read();
#endif
}

}  // namespace gpu::kernels
