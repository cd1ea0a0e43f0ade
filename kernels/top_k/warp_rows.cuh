#pragma once
// `warp_rows`: a warp computes a row, in one launch without scratch memory.

#include "kernels/common/launch.cuh"
#include "kernels/top_k/threshold.cuh"

namespace gpu::kernels::select {

/// Takes the k best of a warp's keys one by one, the lowest position first among equals, and
/// writes them. keys[i] of a lane stands at position 32 * i + lane.
template <class T, int Items>
__device__ inline void warp_take(const key_t<T> (&keys)[Items], const T* row, int cols, int k,
                                 index_t row_number, const row_sink<T>& sink) {
  const int lane = static_cast<int>(threadIdx.x % 32);
  bool left[Items];
#pragma unroll
  for (int i = 0; i < Items; ++i) left[i] = i * 32 + lane < cols;
  int mine = 0;
  for (int rank = 0; rank < k; ++rank) {
    key_t<T> best = 0;
#pragma unroll
    for (int i = 0; i < Items; ++i) best = left[i] && keys[i] > best ? keys[i] : best;
    best = warp_max_32(best);
    int position = -1;
#pragma unroll
    for (int i = 0; i < Items; ++i) {
      const unsigned equal = __ballot_sync(full_warp, left[i] && keys[i] == best);
      if (position < 0 && equal != 0) {
        const int winner = __ffs(static_cast<int>(equal)) - 1;
        position = i * 32 + winner;
        if (lane == winner) left[i] = false;
      }
    }
    if (lane == rank) mine = position;
  }
  if (lane < k) sink.put(row_number, lane, row, mine);
}

/// Sorts one composite per lane, the largest first.
template <class Composite>
__device__ inline Composite warp_sort_descending(Composite mine) {
  const int lane = static_cast<int>(threadIdx.x % 32);
#pragma unroll
  for (int length = 2; length <= 32; length *= 2) {
#pragma unroll
    for (int step = length / 2; step > 0; step /= 2) {
      const Composite other = shuffle_xor(mine, step);
      const bool keep_larger = ((lane & step) == 0) == ((lane & length) == 0);
      mine = (other > mine) == keep_larger ? other : mine;
    }
  }
  return mine;
}

/// Sorts items[0, size), size a power of two from 32 on, largest first, by one warp.
template <class Composite>
__device__ inline void warp_sort_descending(Composite* items, unsigned size) {
  const unsigned lane = threadIdx.x % 32;
  for (unsigned length = 2; length <= size; length *= 2) {
    for (unsigned step = length / 2; step > 0; step /= 2) {
      __syncwarp();
      for (unsigned pair = lane; pair < size / 2; pair += 32) {
        const unsigned i = 2 * pair - (pair & (step - 1));
        const Composite a = items[i];
        const Composite b = items[i + step];
        if ((a < b) == ((i & length) == 0)) {
          items[i] = b;
          items[i + step] = a;
        }
      }
    }
  }
  __syncwarp();
}

/// A bound that the k best of a warp's composites reach, k <= 32: the k-th best of the lanes' best
/// ones. At least 1, which every element reaches.
template <class Composite>
__device__ inline Composite warp_bound(Composite best, int k) {
  const Composite sorted = warp_sort_descending(best);
  Composite bound = sorted;
  if constexpr (sizeof(Composite) == 16) {
    const uint64_t low = __shfl_sync(full_warp, static_cast<uint64_t>(bound), k - 1);
    const uint64_t high = __shfl_sync(full_warp, static_cast<uint64_t>(bound >> 64), k - 1);
    bound = (static_cast<Composite>(high) << 64) | low;
  } else {
    bound = __shfl_sync(full_warp, bound, k - 1);
  }
  // Lanes without an element have 0: then everything else is a candidate.
  return bound == 0 ? Composite{1} : bound;
}

/// Collects a warp's composites that reach `bound` in `items`; returns how many they are.
template <class Composite, int Items>
__device__ inline unsigned warp_collect(const Composite (&mine)[Items], Composite bound,
                                        Composite* items) {
  const unsigned lane = threadIdx.x % 32;
  unsigned count = 0;
#pragma unroll
  for (int i = 0; i < Items; ++i) {
    const bool hit = mine[i] >= bound;
    const unsigned hits = __ballot_sync(full_warp, hit);
    if (hit) items[count + __popc(hits & ((1u << lane) - 1))] = mine[i];
    count += __popc(hits);
  }
  __syncwarp();
  return count;
}

/// Sorts `count` composites of a warp and calls put(rank, composite) for the first k.
template <class Composite, class Put>
__device__ inline void warp_emit_sorted(Composite* items, unsigned count, int k, const Put& put) {
  const int lane = static_cast<int>(threadIdx.x % 32);
  if (count <= 32) {
    const Composite sorted =
        warp_sort_descending(static_cast<unsigned>(lane) < count ? items[lane] : Composite{0});
    if (lane < k) put(lane, sorted);
  } else {
    const unsigned size = next_power_of_two(count);
    for (unsigned i = count + lane; i < size; i += 32) items[i] = 0;
    warp_sort_descending(items, size);
    for (int i = lane; i < k; i += 32) put(i, items[i]);
  }
  __syncwarp();
}

/// One warp computes one row of at most 32 * Items elements at a time, held in registers.
///
/// Few columns and a small k: the best are taken one by one. Else up to 32 columns: a shuffle sort.
/// Beyond, for k <= 32, the k-th best of the lanes' best bounds the answer; what reaches it goes to
/// shared memory by ballot and is sorted there. For k > 32 the whole row is sorted there. Shared
/// memory: 32 * Items composites per warp.
template <class T, class Composite, int Items>
__global__ void __launch_bounds__(32 * warp_rows_warps)
    warp_rows_kernel(row_source<T> source, index_t rows, int k, row_sink<T> sink) {
  extern __shared__ __align__(16) unsigned char dynamic_memory[];
  const int warp = static_cast<int>(threadIdx.x / 32);
  const int lane = static_cast<int>(threadIdx.x % 32);
  auto* items = reinterpret_cast<Composite*>(dynamic_memory) + warp * (32 * Items);
  const int cols = static_cast<int>(source.cols);
  for (index_t row_number = static_cast<index_t>(blockIdx.x) * warp_rows_warps + warp;
       row_number < rows; row_number += static_cast<index_t>(gridDim.x) * warp_rows_warps) {
    const T* row = source.row(row_number);
    if constexpr (sizeof(T) <= 4 && Items <= 4) {
      if (k <= warp_rows_most_taken) {
        key_t<T> keys[Items];
#pragma unroll
        for (int i = 0; i < Items; ++i) {
          const int at = i * 32 + lane;
          keys[i] = at < cols ? make_key(row[at], source.flip) : key_t<T>{0};
        }
        warp_take<T>(keys, row, cols, k, row_number, sink);
        continue;
      }
    }
    Composite mine[Items];
    Composite best = 0;
#pragma unroll
    for (int i = 0; i < Items; ++i) {
      const int at = i * 32 + lane;
      mine[i] =
          at < cols ? compose<T, Composite>(make_key(row[at], source.flip), at) : Composite{0};
      best = mine[i] > best ? mine[i] : best;
    }
    const auto put = [&](int rank, Composite c) {
      sink.put(row_number, rank, row, position_of<T>(c));
    };
    if constexpr (Items == 1) {
      const Composite sorted = warp_sort_descending(best);
      if (lane < k) put(lane, sorted);
    } else {
      const Composite bound = k <= 32 ? warp_bound(best, k) : Composite{1};
      const unsigned count = warp_collect(mine, bound, items);
      warp_emit_sorted(items, count, k, put);
    }
  }
}

}  // namespace gpu::kernels::select
