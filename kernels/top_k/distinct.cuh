#pragma once
// Distinct values by `threshold`, in three launches.
//
// 1. sample_kernel (threshold.cuh): each warp passes on its best different keys.
// 2. distinct_filter_kernel (here): every block finds the k-th best distinct key of the list, which
//    at least k distinct values of the row reach, and streams its tiles. What reaches it goes to a
//    hash table in shared memory (key, first position, count), after equal keys of a warp were
//    counted together, so that ties, which are the usual case here, cost less than random data.
//    In the end the block appends its table to a list.
// 3. distinct_finish_kernel (distinct_finish.cuh): one block a row keeps the best k of the list.

#include "kernels/common/launch.cuh"
#include "kernels/top_k/threshold.cuh"

namespace gpu::kernels::select {

inline constexpr int table_slots = 1024;
inline constexpr int table_probes = 16;

/// Some occurrences of one key in one row.
template <class Composite>
struct counted_composite {
  Composite first;  ///< Key and lowest position.
  unsigned long long count;
};

/// Composites sorted by block; the rank-th distinct key, as a composite with position bits zero.
/// 0 where there are fewer keys. Sorts items[0, size) in place, size a power of two.
template <class T, class Composite>
__device__ inline Composite block_kth_distinct(Composite* items, unsigned size, unsigned rank,
                                               unsigned* scratch) {
  __shared__ Composite result;
  block_sort_descending(items, size);
  if (threadIdx.x == 0) result = 0;
  __syncthreads();
  unsigned heads_before = 0;
  for (unsigned first = 0; first < size; first += blockDim.x) {
    const unsigned i = first + threadIdx.x;
    const bool head =
        i < size && items[i] != 0 && (i == 0 || key_of<T>(items[i]) != key_of<T>(items[i - 1]));
    unsigned total;
    const unsigned before = heads_before + block_exclusive_sum(head ? 1u : 0u, total, scratch);
    if (head && before == rank - 1) {
      result = static_cast<Composite>(key_of<T>(items[i])) << position_bits<T, Composite>;
    }
    heads_before += total;
    if (heads_before >= rank) break;
  }
  __syncthreads();
  return result;
}

/// The key that the row's list bounds the answer by: its rank-th best distinct one; 0 without a
/// list. `items`: next_power_of_two(plan.kept) composites of shared memory, `scratch`: 33 words.
template <class T, class Composite>
__device__ inline key_t<T> distinct_bound(const Composite* list, const sample_plan& plan,
                                          Composite* items, unsigned* scratch) {
  if (plan.kept == 0) return 0;
  const unsigned size = next_power_of_two(static_cast<unsigned>(plan.kept));
  for (unsigned i = threadIdx.x; i < size; i += filter_threads) {
    items[i] = i < plan.kept ? list[i] : Composite{0};
  }
  return key_of<T>(block_kth_distinct<T>(items, size, plan.rank, scratch));
}

/// The table of a block: open addressing, a slot's key + 1 or 0.
struct block_table {
  unsigned long long keys[table_slots];
  unsigned long long positions[table_slots];
  unsigned counts[table_slots];

  /// All threads call.
  __device__ void clear() {
    for (int s = static_cast<int>(threadIdx.x); s < table_slots; s += filter_threads) {
      keys[s] = 0;
      positions[s] = ~0ull;
      counts[s] = 0;
    }
  }
};

/// Counts what reaches the bound in the block's table, and appends to the row's entries what finds
/// no slot there.
template <class T, class Composite>
struct hit_counter {
  block_table& table;
  counted_composite<Composite>* entries;  // of the row
  unsigned long long* filled;             // of the row
  index_t capacity;

  __device__ void append(key_t<T> key, index_t position, unsigned long long count) const {
    const auto place = static_cast<index_t>(atomicAdd(filled, 1ull));
    if (place < capacity) entries[place] = {compose<T, Composite>(key, position), count};
  }

  __device__ void add(key_t<T> key, index_t position, unsigned count) const {
    const auto stored = static_cast<unsigned long long>(key) + 1;
    auto slot = static_cast<unsigned>((stored * 0x9e3779b97f4a7c15u) >> 54);
    for (int probe = 0; probe < table_probes; ++probe) {
      const unsigned long long old = atomicCAS(&table.keys[slot], 0ull, stored);
      if (old == 0 || old == stored) {
        atomicMin(&table.positions[slot], static_cast<unsigned long long>(position));
        atomicAdd(&table.counts[slot], count);
        return;
      }
      slot = (slot + 1) % table_slots;
    }
    append(key, position, count);
  }

  /// All lanes of the warp call this; lanes of equal keys count as one. Positions ascend with the
  /// lane.
  __device__ void add_of_warp(bool hit, key_t<T> key, index_t position) const {
    const unsigned hits = __ballot_sync(all_lanes, hit);
    if (hits == 0 || !hit) return;
    const unsigned equal = __match_any_sync(hits, key);
    const int leader = __ffs(static_cast<int>(equal)) - 1;
    if (static_cast<int>(threadIdx.x % 32) == leader) {
      add(key, position, static_cast<unsigned>(__popc(equal)));
    }
  }

  /// Appends the table to the row's entries. All threads call, after a __syncthreads().
  __device__ void flush() const {
    for (int s = static_cast<int>(threadIdx.x); s < table_slots; s += filter_threads) {
      if (table.keys[s] == 0) continue;
      append(static_cast<key_t<T>>(table.keys[s] - 1), static_cast<index_t>(table.positions[s]),
             table.counts[s]);
    }
  }
};

/// Counts the elements before the first and behind the last whole vector of a row, by one block.
template <class T, class Composite>
__device__ inline void count_ends(const T* row, index_t cols, key_t<T> flip, key_t<T> least,
                                  const vector_split<T>& split,
                                  const hit_counter<T, Composite>& hits) {
  const auto visit = [&](index_t i) {
    const key_t<T> key = make_key(row[i], flip);
    if (key >= least) hits.add(key, i, 1);
  };
  for (index_t i = threadIdx.x; i < split.head; i += filter_threads) visit(i);
  for (index_t i = split.tail + threadIdx.x; i < cols; i += filter_threads) visit(i);
}

/// Blocks [any, rows] of filter_threads. entries [rows, plan.capacity], filled [rows] counts them.
/// A block walks tiles of filter_unroll vectors a thread. Dynamic shared memory:
/// next_power_of_two(plan.kept) composites.
template <class T, class Composite>
__global__ void __launch_bounds__(filter_threads)
    distinct_filter_kernel(top_k_source<T> source, const Composite* list, sample_plan plan,
                           counted_composite<Composite>* entries, unsigned long long* filled) {
  extern __shared__ __align__(16) unsigned char dynamic_memory[];
  __shared__ block_table table;
  __shared__ unsigned scratch[33];
  const index_t row_number = blockIdx.y;
  const T* row = source.row(row_number);
  table.clear();
  prefetch_first_tile(row, source.cols);
  wait_for_previous_kernel();
  let_next_kernel_start();
  const key_t<T> least = distinct_bound<T>(list + row_number * plan.kept, plan,
                                           reinterpret_cast<Composite*>(dynamic_memory), scratch);
  const rival_test<T> reaches(least);
  __syncthreads();
  const hit_counter<T, Composite> hits{table, entries + row_number * plan.capacity,
                                       filled + row_number, plan.capacity};
  constexpr int size = element_vector<T>::size;
  const vector_split<T> split(row, source.cols);
  const auto* vectors = reinterpret_cast<const element_vector<T>*>(row + split.head);
  if (blockIdx.x == 0) count_ends(row, source.cols, source.flip, least, split, hits);
  constexpr index_t tile = static_cast<index_t>(filter_threads) * filter_unroll;
  for (index_t first = static_cast<index_t>(blockIdx.x) * tile; first < split.vectors;
       first += static_cast<index_t>(gridDim.x) * tile) {
    element_vector<T> loaded[filter_unroll];
#pragma unroll
    for (int u = 0; u < filter_unroll; ++u) {
      const index_t v = first + u * filter_threads + threadIdx.x;
      if (v < split.vectors) loaded[u] = vectors[v];
    }
#pragma unroll
    for (int u = 0; u < filter_unroll; ++u) {
      const index_t v = first + u * filter_threads + threadIdx.x;
      const bool inside = v < split.vectors;
      const bool hit = inside && reaches(best_rival(loaded[u], source.flip));
      if (!__any_sync(all_lanes, hit)) continue;
      const T* again = row + split.head + v * size;
      for (int j = 0; j < size; ++j) {
        const key_t<T> key = inside ? make_key(again[j], source.flip) : key_t<T>{0};
        hits.add_of_warp(inside && key >= least, key, split.head + v * size + j);
      }
    }
  }
  __syncthreads();
  hits.flush();
}

}  // namespace gpu::kernels::select
