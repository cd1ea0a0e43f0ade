#pragma once
// `block_rows` and `warp_rows`: a block or a warp computes a row, in one launch without scratch
// memory.

#include "cuda_runtime/device_code.hpp"
#include "cuda_runtime/device_limits.hpp"
#include "kernels/common/bulk_copy.cuh"
#include "kernels/top_k/threshold.cuh"

namespace gpu::kernels::select {

/// k from here on has too few threads beside it for a bound from the threads' best.
constexpr index_t most_k_by_threads(int threads) {
  return threads / 2;
}

/// Room that stage_row wants beside the row's elements, in bytes.
inline constexpr std::size_t stage_slack = 32;

/// Brings a row to shared memory, its 16-byte vectors by one bulk copy; returns where it stands
/// there, aligned as the row is. All threads call it, `arrived` is a barrier of one arrival. sm_90.
template <class T>
__device__ inline const T* stage_row(const T* row, index_t cols, const vector_split<T>& split,
                                     unsigned char* room, std::uint64_t* arrived, unsigned& phase) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  T* here = reinterpret_cast<T*>(room + reinterpret_cast<std::uintptr_t>(row) % 16);
  const unsigned barrier = shared_address(arrived);
  if (threadIdx.x == 0) {
    const auto bytes = static_cast<unsigned>(split.vectors * 16);
    async_proxy_fence();
    barrier_expect(barrier, bytes);
    if (bytes > 0) bulk_copy(shared_address(here + split.head), row + split.head, bytes, barrier);
  }
  for (index_t i = threadIdx.x; i < split.head; i += blockDim.x) here[i] = row[i];
  for (index_t i = split.tail + threadIdx.x; i < cols; i += blockDim.x) here[i] = row[i];
  barrier_wait(barrier, phase);
  phase ^= 1;
  __syncthreads();
  return here;
#else
  static_cast<void>(cols), static_cast<void>(split), static_cast<void>(room);
  static_cast<void>(arrived), static_cast<void>(phase);
  return row;
#endif
}

/// The best element of a thread's vectors of a row, as a composite; the lowest position of equals.
/// Compares keys only: rivals first, then the elements of the best vector.
template <class T, class Composite, int Threads>
__device__ inline Composite best_of_thread(const top_k_source<T>& source, const T* row,
                                           const vector_split<T>& split) {
  using vector = element_vector<T>;
  const auto* vectors = reinterpret_cast<const vector*>(row + split.head);
  rival_t<T> best = best_rival(vectors[threadIdx.x], source.flip);
  index_t best_vector = threadIdx.x;
#pragma unroll 5
  for (index_t v = static_cast<index_t>(threadIdx.x) + Threads; v < split.vectors; v += Threads) {
    const rival_t<T> rival = best_rival(vectors[v], source.flip);
    // Also where the best so far is NaN.
    if (!(best >= rival) && rival == rival) {
      best = rival;
      best_vector = v;
    }
  }
  const index_t first = split.head + best_vector * vector::size;
  const key_t<T> best_key = key_of_rival<T>(best, source.flip);
  Composite mine = 0;
#pragma unroll
  for (int j = vector::size - 1; j >= 0; --j) {
    if (make_key(row[first + j], source.flip) == best_key) {
      mine = compose<T, Composite>(best_key, first + j);
    }
  }
  return mine;
}

/// Asks the L2 for a row, all threads.
template <class T, int Threads>
__device__ inline void prefetch_row(const T* row, index_t cols) {
  const auto* memory = reinterpret_cast<const char*>(row);
  const index_t bytes = cols * static_cast<index_t>(sizeof(T));
  for (index_t at = static_cast<index_t>(threadIdx.x) * 128; at < bytes; at += Threads * 128) {
    asm volatile("prefetch.global.L2 [%0];" ::"l"(memory + at));
  }
}

/// A bound that at least k of the threads' best composites reach. All threads call.
template <class Composite, int Threads>
__device__ inline Composite bound_of_threads(Composite mine, index_t k) {
  __shared__ Composite best_of_threads[Threads];
  __shared__ Composite shared_bound;
  best_of_threads[threadIdx.x] = mine;
  __syncthreads();
  if (threadIdx.x < 32) {
    Composite bests[Threads / 32];
#pragma unroll
    for (int i = 0; i < Threads / 32; ++i) bests[i] = best_of_threads[i * 32 + threadIdx.x];
    const Composite bound =
        warp_bound_by_bits(bests, static_cast<unsigned>(k), static_cast<unsigned>(k / 8));
    if (threadIdx.x == 0) shared_bound = bound;
  }
  __syncthreads();
  return shared_bound;
}

/// Collects the composites of a row that reach `bound` in `items`, which has room for `limit`;
/// *found, which is 0 before, counts them all. All threads call.
template <class T, class Composite, int Threads>
__device__ inline void collect_row(const top_k_source<T>& source, const T* row,
                                   const vector_split<T>& split, Composite bound, unsigned limit,
                                   Composite* items, unsigned* found) {
  using vector = element_vector<T>;
  const auto* vectors = reinterpret_cast<const vector*>(row + split.head);
  const rival_test<T> reaches(key_of<T>(bound));
  const auto test = [&](index_t position) {
    const Composite c = compose<T, Composite>(make_key(row[position], source.flip), position);
    if (c >= bound) {
      const unsigned place = atomicAdd(found, 1u);
      if (place < limit) items[place] = c;
    }
  };
#pragma unroll 5
  for (index_t v = threadIdx.x; v < split.vectors; v += Threads) {
    if (reaches(best_rival(vectors[v], source.flip))) {
      for (int j = 0; j < vector::size; ++j) test(split.head + v * vector::size + j);
    }
  }
  for (index_t i = threadIdx.x; i < split.head; i += Threads) test(i);
  for (index_t i = split.tail + threadIdx.x; i < source.cols; i += Threads) test(i);
}

/// One block of Threads computes one row at a time and goes on to another.
///
/// Each thread finds its best element; one warp finds a bound that the k best of these reach. So at
/// least k elements reach it, and for k well below the number of threads few more. A second walk
/// over the row, mostly from L1 and L2, collects them, and they are ranked by counting or by a
/// short sort. Meanwhile the next row is brought to the L2. Where too many are collected (because
/// they are in few threads) or k is large, histograms of the composites' range narrow the row down
/// instead.
/// Shared memory: the candidates, at most 4096 composites, 8 or 16 KiB of histogram, and a
/// composite per thread.
/// Staged: the row is held in shared memory, so that both walks are short, and as many small blocks
/// as fit overlap their waits, which take most of the time of a row.
template <class T, class Composite, int Threads, bool Staged>
__global__ void __launch_bounds__(Threads, resident_threads / Threads)
    block_rows_kernel(top_k_source<T> source, index_t rows, index_t k, unsigned limit,
                      row_sink<T> sink) {
  using count = count_t<T, Composite>;
  extern __shared__ __align__(16) unsigned char dynamic_memory[];
  auto* items = reinterpret_cast<Composite*>(dynamic_memory);
  __shared__ refine_memory<count> memory;
  __shared__ unsigned found;
  __shared__ std::uint64_t arrived;
  unsigned phase = 0;
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  if constexpr (Staged) {
    if (threadIdx.x == 0) {
      barrier_init(shared_address(&arrived), 1);
      barrier_init_fence();
    }
    __syncthreads();
  }
#endif
  for (index_t row_number = blockIdx.x; row_number < rows; row_number += gridDim.x) {
    const T* row = source.row(row_number);
    const vector_split<T> split(row, source.cols);
    if constexpr (Staged) {
      row = stage_row(row, source.cols, split, dynamic_memory + limit * sizeof(Composite), &arrived,
                      phase);
    }
    unsigned collected = limit + 1;
    if (k <= most_k_by_threads(Threads) && split.vectors >= Threads) {
      const Composite mine = best_of_thread<T, Composite, Threads>(source, row, split);
      const index_t next = row_number + gridDim.x;
      if (next < rows) prefetch_row<T, Threads>(source.row(next), source.cols);
      if (threadIdx.x == 0) found = 0;
      const Composite bound = bound_of_threads<Composite, Threads>(mine, k);
      collect_row<T, Composite, Threads>(source, row, split, bound, limit, items, &found);
      __syncthreads();
      collected = found;
    }
    if (collected > limit) {
      const auto visit_row = [&](const auto& visit) {
        block_visit_row(row, source.cols, [&](index_t position, T value) {
          visit(compose<T, Composite>(make_key(value, source.flip), position));
        });
      };
      __syncthreads();
      collected =
          block_narrow<Composite, count>(visit_row, static_cast<count>(k), limit, items, memory);
    }
    block_emit_sorted(items, collected, static_cast<unsigned>(k), [&](unsigned rank, Composite c) {
      sink.put(row_number, rank, row, position_of<T>(c));
    });
    __syncthreads();
  }
}

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
    best = kernels::warp_max<uint32_t>(best);
    int position = -1;
#pragma unroll
    for (int i = 0; i < Items; ++i) {
      const unsigned equal = __ballot_sync(all_lanes, left[i] && keys[i] == best);
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
    const uint64_t low = __shfl_sync(all_lanes, static_cast<uint64_t>(bound), k - 1);
    const uint64_t high = __shfl_sync(all_lanes, static_cast<uint64_t>(bound >> 64), k - 1);
    bound = (static_cast<Composite>(high) << 64) | low;
  } else {
    bound = __shfl_sync(all_lanes, bound, k - 1);
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
    const unsigned hits = __ballot_sync(all_lanes, hit);
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
    warp_rows_kernel(top_k_source<T> source, index_t rows, int k, row_sink<T> sink) {
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

/// Rows whose length in bytes, and k, are worth staging in shared memory, where the code can.
template <class T>
bool stages_rows(const top_k_call<T>& call) {
  const index_t bytes = call.source.cols * static_cast<index_t>(sizeof(T));
  return bytes >= least_staged_bytes && bytes <= most_staged_bytes && call.k <= most_staged_k &&
         cuda::current_code().capability >= 90;
}

template <class T, class Composite, int Threads, bool Staged>
void launch_block_rows(const top_k_call<T>& call) {
  const unsigned limit = block_rows_limit(call.k, sizeof(Composite), call.shared_bytes);
  const std::size_t row_bytes =
      Staged ? stage_slack + static_cast<std::size_t>(call.source.cols) * sizeof(T) : 0;
  const std::size_t shared = limit * sizeof(Composite) + row_bytes;
  const auto kernel = block_rows_kernel<T, Composite, Threads, Staged>;
  allow_shared_memory(kernel, shared);
  const index_t resident = static_cast<index_t>(call.multiprocessors) *
                           cuda::resident_blocks_per_multiprocessor(
                               reinterpret_cast<const void*>(kernel), Threads, shared);
  kernel<<<grid_blocks(call.rows, 1, resident), Threads, shared, call.stream>>>(
      call.source, call.rows, call.k, limit, call.sink);
  GPU_SIMILARITY_CHECK_LAUNCH();
}

template <class T, class Composite>
void run_block_rows(const top_k_call<T>& call) {
  if constexpr (sizeof(T) == 4) {  // others are not measured
    if (stages_rows(call)) return launch_block_rows<T, Composite, staged_threads, true>(call);
  }
  return call.source.cols < block_rows_wide ? launch_block_rows<T, Composite, 256, false>(call)
                                            : launch_block_rows<T, Composite, 512, false>(call);
}

template <class T, class Composite, int Items>
void run_warp_rows(const top_k_call<T>& call) {
  if constexpr (Items < 32) {
    if (call.source.cols > 32 * Items) return run_warp_rows<T, Composite, 2 * Items>(call);
  }
  constexpr std::size_t shared =
      Items == 1 ? 0 : std::size_t{warp_rows_warps} * 32 * Items * sizeof(Composite);
  const auto kernel = warp_rows_kernel<T, Composite, Items>;
  allow_shared_memory(kernel, shared);
  kernel<<<grid_blocks(call.rows, warp_rows_warps), 32 * warp_rows_warps, shared, call.stream>>>(
      call.source, call.rows, static_cast<int>(call.k), call.sink);
  GPU_SIMILARITY_CHECK_LAUNCH();
}

}  // namespace gpu::kernels::select
