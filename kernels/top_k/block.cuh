#pragma once
// What the kernels of top_k do together in a block or warp: walk a row with wide loads, find a
// bound for the k-th largest composite, sort composites in shared memory.

#include "kernels/common/warp.cuh"
#include "kernels/top_k/key.cuh"

namespace gpu::kernels::select {

template <class Word>
__device__ inline Word shuffle_xor(Word value, int lane_mask) {
  if constexpr (sizeof(Word) == 16) {
    const uint64_t low = __shfl_xor_sync(all_lanes, static_cast<uint64_t>(value), lane_mask);
    const uint64_t high = __shfl_xor_sync(all_lanes, static_cast<uint64_t>(value >> 64), lane_mask);
    return (static_cast<Word>(high) << 64) | low;
  } else {
    return __shfl_xor_sync(all_lanes, value, lane_mask);
  }
}

template <class Word>
__device__ inline Word warp_max(Word value) {
#pragma unroll
  for (int mask = 16; mask > 0; mask /= 2) {
    const Word other = shuffle_xor(value, mask);
    value = other > value ? other : value;
  }
  return value;
}

/// Sum of the values of the lanes below this one.
template <class Word>
__device__ inline Word warp_exclusive_sum(Word value, Word& total) {
  const int lane = static_cast<int>(threadIdx.x % 32);
  Word sum = value;
#pragma unroll
  for (int step = 1; step < 32; step *= 2) {
    const Word below = __shfl_up_sync(all_lanes, sum, step);
    if (lane >= step) sum += below;
  }
  total = __shfl_sync(all_lanes, sum, 31);
  return sum - value;
}

/// Elements of one 16-byte load.
template <class T>
struct alignas(16) element_vector {
  static constexpr int size = static_cast<int>(16 / sizeof(T));
  T item[size];
};

/// The best of a vector's elements.
template <class T>
__device__ inline rival_t<T> best_rival(const element_vector<T>& vector, key_t<T> flip) {
  rival_t<T> best = make_rival(vector.item[0], flip);
#pragma unroll
  for (int j = 1; j < element_vector<T>::size; ++j) {
    best = better(best, make_rival(vector.item[j], flip));
  }
  return best;
}

/// How a row splits into 16-byte vectors: elements [0, head) and from `tail` on stand alone.
template <class T>
struct vector_split {
  index_t head;
  index_t vectors;
  index_t tail;
  __device__ vector_split(const T* row, index_t cols) {
    const auto misaligned = static_cast<index_t>(reinterpret_cast<std::uintptr_t>(row) % 16);
    head = misaligned == 0 ? 0 : (16 - misaligned) / static_cast<index_t>(sizeof(T));
    head = head < cols ? head : cols;
    vectors = (cols - head) / element_vector<T>::size;
    tail = head + vectors * element_vector<T>::size;
  }
};

/// Calls visit(position, value) for the elements of a row that belong to thread `thread` of
/// `threads`.
template <class T, class Visit>
__device__ inline void visit_row(const T* row, index_t cols, index_t thread, index_t threads,
                                 const Visit& visit) {
  const vector_split<T> split(row, cols);
  const auto* vectors = reinterpret_cast<const element_vector<T>*>(row + split.head);
  for (index_t i = thread; i < split.head; i += threads) visit(i, row[i]);
#pragma unroll 4
  for (index_t v = thread; v < split.vectors; v += threads) {
    const element_vector<T> loaded = vectors[v];
    const index_t first = split.head + v * element_vector<T>::size;
#pragma unroll
    for (int j = 0; j < element_vector<T>::size; ++j) visit(first + j, loaded.item[j]);
  }
  for (index_t i = split.tail + thread; i < cols; i += threads) visit(i, row[i]);
}

/// For every element of the row, once, from the threads of the block.
template <class T, class Visit>
__device__ inline void block_visit_row(const T* row, index_t cols, const Visit& visit) {
  visit_row(row, cols, threadIdx.x, blockDim.x, visit);
}

/// Sum over the block; every thread gets it. `scratch` holds 33 words.
template <class Word>
__device__ inline Word block_exclusive_sum(Word value, Word& total, Word* scratch) {
  const int warp = static_cast<int>(threadIdx.x / 32);
  const int lane = static_cast<int>(threadIdx.x % 32);
  const int warps = static_cast<int>(blockDim.x / 32);
  Word warp_total;
  const Word below = warp_exclusive_sum(value, warp_total);
  if (lane == 0) scratch[warp] = warp_total;
  __syncthreads();
  if (warp == 0) {
    Word all;
    const Word before = warp_exclusive_sum(lane < warps ? scratch[lane] : Word{0}, all);
    __syncwarp();
    if (lane < warps) scratch[lane] = before;
    if (lane == 0) scratch[32] = all;
  }
  __syncthreads();
  total = scratch[32];
  const Word result = scratch[warp] + below;
  __syncthreads();
  return result;
}

template <class Word>
__device__ inline Word block_max(Word value, Word* scratch) {
  const int warp = static_cast<int>(threadIdx.x / 32);
  const int lane = static_cast<int>(threadIdx.x % 32);
  const Word mine = warp_max(value);
  if (lane == 0) scratch[warp] = mine;
  __syncthreads();
  const Word all = warp_max(lane < static_cast<int>(blockDim.x / 32) ? scratch[lane] : Word{0});
  __syncthreads();
  return all;
}

template <class Word>
__device__ inline int bit_width(Word value) {
  if constexpr (sizeof(Word) == 16) {
    const auto high = static_cast<long long>(value >> 64);
    return high != 0 ? 128 - __clzll(high) : 64 - __clzll(static_cast<long long>(value));
  } else {
    return 64 - __clzll(static_cast<long long>(value));
  }
}

/// A bound that the `rank` largest of the composites reach, and at most `slack` others. Each thread
/// brings `Items` of them, 0 for none, `rank` or more in all. The distance of the bound from the
/// smallest is found bit by bit from the top, one count of the block each; it stops as soon as the
/// slack allows.
template <int Items, class Composite>
__device__ inline Composite block_bound_by_bits(const Composite (&items)[Items], unsigned rank,
                                                unsigned slack, unsigned* counters) {
  Composite largest = 0;
  Composite smallest = ~Composite{0};
#pragma unroll
  for (int i = 0; i < Items; ++i) {
    largest = items[i] > largest ? items[i] : largest;
    if (items[i] != 0) smallest = items[i] < smallest ? items[i] : smallest;
  }
  __shared__ Composite scratch[32];
  largest = block_max(largest, scratch);
  smallest = ~block_max(static_cast<Composite>(~smallest), scratch);
  const int width = bit_width(largest - smallest);
  if (threadIdx.x < 3) counters[threadIdx.x] = 0;
  __syncthreads();
  Composite bound = smallest;
  for (int bit = width - 1, step = 0; bit >= 0; --bit, ++step) {
    const Composite trial = bound + (Composite{1} << bit);
    unsigned mine = 0;
#pragma unroll
    for (int i = 0; i < Items; ++i) mine += items[i] >= trial ? 1u : 0u;
    if (trial < bound) mine = 0;  // beyond every composite
    mine = warp_sum(mine);
    if (threadIdx.x % 32 == 0 && mine > 0) atomicAdd(&counters[step % 3], mine);
    __syncthreads();
    const unsigned reached = counters[step % 3];
    // Two steps away from both its last reader and its next writer.
    if (threadIdx.x == 0) counters[(step + 2) % 3] = 0;
    if (reached >= rank) {
      bound = trial;
      if (reached <= rank + slack) break;
    }
  }
  __syncthreads();
  return bound;
}

/// The same by one warp, without waiting for the rest of the block.
template <int Items, class Composite>
__device__ inline Composite warp_bound_by_bits(const Composite (&items)[Items], unsigned rank,
                                               unsigned slack) {
  Composite largest = 0;
  Composite smallest = ~Composite{0};
#pragma unroll
  for (int i = 0; i < Items; ++i) {
    largest = items[i] > largest ? items[i] : largest;
    if (items[i] != 0) smallest = items[i] < smallest ? items[i] : smallest;
  }
  largest = warp_max(largest);
  smallest = ~warp_max(static_cast<Composite>(~smallest));
  Composite bound = smallest;
  for (int bit = bit_width(largest - smallest) - 1; bit >= 0; --bit) {
    const Composite trial = bound + (Composite{1} << bit);
    if (trial > largest || trial < bound) continue;
    unsigned reached = 0;
#pragma unroll
    for (int i = 0; i < Items; ++i) reached += items[i] >= trial ? 1u : 0u;
    reached = warp_sum(reached);
    if (reached >= rank) {
      bound = trial;
      if (reached <= rank + slack) break;
    }
  }
  return bound;
}

inline constexpr int refine_bins = 2048;

/// Shared memory of block_bound.
template <class Count>
struct refine_memory {
  Count bins[refine_bins];
  Count scratch[33];
  Count above;
  Count in_bin;
  int bin;
};

/// A bound that at least k, and at most `limit` composites reach, where limit >= k. `visit_all(f)`
/// calls f(composite) for each of them from the threads of the block, the same ones every time.
/// One histogram of their range divides it by 2048; as composites differ, a few rounds suffice
/// whatever the data, and one where it spreads.
template <class Composite, class VisitAll, class Count>
__device__ inline Composite block_bound(const VisitAll& visit_all, Count k, Count limit,
                                        refine_memory<Count>& memory) {
  Composite high = 0;
  Composite low = ~Composite{0};
  visit_all([&](Composite c) {
    high = c > high ? c : high;
    low = c < low ? c : low;
  });
  __shared__ Composite scratch[32];
  high = block_max(high, scratch);
  low = ~block_max(static_cast<Composite>(~low), scratch);
  Count above = 0;
  while (true) {
    const int width = bit_width(high - low);
    const int shift = width > 11 ? width - 11 : 0;
    for (int b = static_cast<int>(threadIdx.x); b < refine_bins;
         b += static_cast<int>(blockDim.x)) {
      memory.bins[b] = 0;
    }
    __syncthreads();
    visit_all([&](Composite c) {
      if (c >= low && c <= high) {
        atomicAdd(&memory.bins[static_cast<int>((c - low) >> shift)], Count{1});
      }
    });
    __syncthreads();
    // Each thread sums neighbouring bins, the highest first, and finds out whether the k-th
    // largest falls into one of them.
    const int per_thread = refine_bins / static_cast<int>(blockDim.x);
    const int first = refine_bins - 1 - static_cast<int>(threadIdx.x) * per_thread;
    Count mine = 0;
    for (int b = 0; b < per_thread; ++b) mine += memory.bins[first - b];
    Count total;
    Count before = above + block_exclusive_sum(mine, total, memory.scratch);
    if (before < k && before + mine >= k) {
      for (int b = 0; b < per_thread; ++b) {
        const Count here = memory.bins[first - b];
        if (before + here >= k) {
          memory.bin = first - b;
          memory.above = before;
          memory.in_bin = here;
          break;
        }
        before += here;
      }
    }
    __syncthreads();
    const Composite bound = low + (static_cast<Composite>(memory.bin) << shift);
    above = memory.above;
    if (above + memory.in_bin <= limit || shift == 0) return bound;
    const Composite span = (Composite{1} << shift) - 1;
    high = high - bound > span ? bound + span : high;
    low = bound;
    __syncthreads();
  }
}

/// Sorts items[0, size), size a power of two, largest first. All threads of the block call it.
template <class Composite>
__device__ inline void block_sort_descending(Composite* items, unsigned size) {
  for (unsigned length = 2; length <= size; length *= 2) {
    for (unsigned step = length / 2; step > 0; step /= 2) {
      __syncthreads();
      for (unsigned pair = threadIdx.x; pair < size / 2; pair += blockDim.x) {
        const unsigned i = 2 * pair - (pair & (step - 1));
        const unsigned j = i + step;
        const Composite a = items[i];
        const Composite b = items[j];
        if ((a < b) == ((i & length) == 0)) {
          items[i] = b;
          items[j] = a;
        }
      }
    }
  }
  __syncthreads();
}

__host__ __device__ constexpr unsigned next_power_of_two(unsigned value) {
  unsigned power = 1;
  while (power < value) power *= 2;
  return power;
}

/// Calls put(rank, composite) for the k largest of items[0, count), ranks from 0. Room for
/// next_power_of_two(count) items; few are ranked by counting, more are sorted.
template <class Composite, class Put>
__device__ inline void block_emit_sorted(Composite* items, unsigned count, unsigned k,
                                         const Put& put) {
  constexpr unsigned most_counted = 128;
  if (count <= most_counted) {
    __syncthreads();
    for (unsigned i = threadIdx.x; i < count; i += blockDim.x) {
      const Composite mine = items[i];
      unsigned rank = 0;
      for (unsigned j = 0; j < count; ++j) rank += items[j] > mine ? 1u : 0u;
      if (rank < k) put(rank, mine);
    }
    return;
  }
  const unsigned size = next_power_of_two(count);
  for (unsigned i = count + threadIdx.x; i < size; i += blockDim.x) items[i] = 0;
  block_sort_descending(items, size);
  for (unsigned i = threadIdx.x; i < k; i += blockDim.x) put(i, items[i]);
}

}  // namespace gpu::kernels::select
