#pragma once
// `block_rows`: a block computes a row, in one launch without scratch memory.

#include "kernels/common/bulk_copy.cuh"
#include "kernels/common/launch.cuh"
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
__device__ inline Composite best_of_thread(const row_source<T>& source, const T* row,
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
__device__ inline void collect_row(const row_source<T>& source, const T* row,
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
/// least k elements reach it, and for k well below the number of threads few more. A second walk,
/// mostly from L1 and L2, collects them; ranking by counting or a short sort ends it. Meanwhile the
/// next row is on its way to the L2. Where too many are collected (they cluster in few threads) or
/// k is large, histograms of the composites' range narrow the row down instead.
/// Shared memory: the candidates, at most 4096 composites, 8 or 16 KiB of histogram, and a
/// composite per thread.
/// Staged: the row is in shared memory during its time, so that both walks are short and as many
/// small blocks as fit there hide each other's waits, which are what a row takes time for.
template <class T, class Composite, int Threads, bool Staged>
__global__ void __launch_bounds__(Threads, resident_threads / Threads)
    block_rows_kernel(row_source<T> source, index_t rows, index_t k, unsigned limit,
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

}  // namespace gpu::kernels::select
