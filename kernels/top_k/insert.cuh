#pragma once
// `two_pass_insert`: two passes of insertion. Each thread walks the row with a grid stride and
// keeps a sorted list of its best k in registers; the lists of a block merge pairwise in shared
// memory; a second launch of one block merges the blocks' lists the same way.
//
// Every element costs a comparison with the list's last entry and, early on, an insertion: with n
// elements shared by P threads each list is entered about k ln(n / (P k)) times, and warps wait
// for their slowest lane. It reads the data once, but is bound by those insertions and by the
// merges, which handle blocks * threads * k entries.
// Shared memory: threads * k composites.

#include "kernels/common/launch.cuh"
#include "kernels/top_k/block.cuh"
#include "plan/top_k_policy.hpp"

namespace gpu::kernels::select {

/// A sorted list of at most MostK composites, the largest first. Distinct: one for each key, the
/// one of the lowest position.
template <class T, class Composite, bool Distinct, int MostK>
struct insert_list {
  Composite items[MostK];
  int k;

  __device__ explicit insert_list(int entries) : k(entries) {
#pragma unroll
    for (int i = 0; i < MostK; ++i) items[i] = 0;
  }

  /// Entries behind the k-th are kept where there is room, but never read.
  __device__ void insert(Composite c) {
    if (c <= items[MostK - 1]) return;
    if constexpr (Distinct) {
      bool known = false;
#pragma unroll
      for (int i = 0; i < MostK; ++i) {
        if (items[i] != 0 && key_of<T>(items[i]) == key_of<T>(c)) {
          known = true;
          items[i] = c > items[i] ? c : items[i];
        }
      }
      if (known) return;
    }
#pragma unroll
    for (int i = 0; i < MostK; ++i) {
      const bool swap = c > items[i];
      const Composite old = items[i];
      items[i] = swap ? c : old;
      c = swap ? old : c;
    }
  }
};

/// Merges the lists of the block's threads into lists[0, MostK).
template <class T, class Composite, bool Distinct, int MostK>
__device__ inline void merge_lists(insert_list<T, Composite, Distinct, MostK>& mine,
                                   Composite* lists) {
  Composite* own = lists + threadIdx.x * MostK;
#pragma unroll
  for (int i = 0; i < MostK; ++i) own[i] = mine.items[i];
  for (unsigned half = blockDim.x / 2; half > 0; half /= 2) {
    __syncthreads();
    if (threadIdx.x < half) {
      for (int i = 0; i < MostK; ++i) {
        const Composite c = own[half * MostK + static_cast<unsigned>(i)];
        if (c == 0) break;
        mine.insert(c);
      }
#pragma unroll
      for (int i = 0; i < MostK; ++i) own[i] = mine.items[i];
    }
  }
  __syncthreads();
}

/// Blocks [any, rows] of insert_threads; lists [rows, gridDim.x, MostK].
template <class T, class Composite, bool Distinct, int MostK>
__global__ void __launch_bounds__(insert_threads)
    insert_kernel(top_k_source<T> source, int k, Composite* lists) {
  extern __shared__ __align__(16) unsigned char dynamic_memory[];
  auto* shared_lists = reinterpret_cast<Composite*>(dynamic_memory);
  const index_t row_number = blockIdx.y;
  const T* row = source.row(row_number);
  insert_list<T, Composite, Distinct, MostK> mine(k);
  const index_t step = static_cast<index_t>(gridDim.x) * insert_threads;
  for (index_t i = static_cast<index_t>(blockIdx.x) * insert_threads + threadIdx.x; i < source.cols;
       i += step) {
    mine.insert(compose<T, Composite>(make_key(row[i], source.flip), i));
  }
  merge_lists(mine, shared_lists);
  Composite* out = lists + (row_number * gridDim.x + blockIdx.x) * MostK;
  for (int i = static_cast<int>(threadIdx.x); i < MostK; i += insert_threads) {
    out[i] = shared_lists[i];
  }
}

/// One block per row: merges the lists of `blocks` blocks, each MostK long. Plain: writes the
/// entries. Distinct: writes value, position and a count of 0 to be added to, and `found`.
template <class T, class Composite, bool Distinct, int MostK>
__global__ void __launch_bounds__(insert_threads)
    insert_merge_kernel(top_k_source<T> source, int k, Composite* lists, index_t blocks,
                        row_sink<T> sink, index_t* counts, index_t counts_stride, index_t* found) {
  extern __shared__ __align__(16) unsigned char dynamic_memory[];
  auto* shared_lists = reinterpret_cast<Composite*>(dynamic_memory);
  const index_t row_number = blockIdx.x;
  const T* row = source.row(row_number);
  Composite* mine_in = lists + row_number * blocks * MostK;
  insert_list<T, Composite, Distinct, MostK> mine(k);
  for (index_t i = threadIdx.x; i < blocks * MostK; i += insert_threads) {
    if (mine_in[i] != 0) mine.insert(mine_in[i]);
  }
  merge_lists(mine, shared_lists);
  for (int i = static_cast<int>(threadIdx.x); i < k; i += insert_threads) {
    const Composite c = shared_lists[i];
    if constexpr (Distinct) {
      // The counting kernel finds the keys where the first block's list was.
      mine_in[i] = c;
      counts[row_number * counts_stride + i] = 0;
      if (c == 0) {
        sink.values[row_number * sink.values_stride + i] = T{};
        sink.indices[row_number * sink.indices_stride + i] = -1;
        continue;
      }
      if (i + 1 == k || shared_lists[i + 1] == 0) found[row_number] = i + 1;
    }
    sink.put(row_number, i, row, position_of<T>(c));
  }
}

/// Counts how often each of the merged distinct keys occurs. Blocks [any, rows].
template <class T, class Composite, int MostK>
__global__ void __launch_bounds__(insert_threads)
    insert_count_kernel(top_k_source<T> source, int k, const Composite* lists, index_t blocks,
                        index_t* counts, index_t counts_stride) {
  __shared__ key_t<T> keys[MostK];
  __shared__ unsigned long long counted[MostK];
  __shared__ int known;
  const index_t row_number = blockIdx.y;
  const T* row = source.row(row_number);
  const Composite* merged = lists + row_number * blocks * MostK;
  if (threadIdx.x == 0) known = 0;
  __syncthreads();
  for (int i = static_cast<int>(threadIdx.x); i < k; i += insert_threads) {
    keys[i] = key_of<T>(merged[i]);
    counted[i] = 0;
    if (merged[i] != 0) atomicAdd(&known, 1);
  }
  __syncthreads();
  const int entries = known;
  const index_t step = static_cast<index_t>(gridDim.x) * insert_threads;
  for (index_t i = static_cast<index_t>(blockIdx.x) * insert_threads + threadIdx.x; i < source.cols;
       i += step) {
    const key_t<T> key = make_key(row[i], source.flip);
    if (key < keys[entries - 1]) continue;
    for (int j = 0; j < entries; ++j) {
      if (keys[j] == key) atomicAdd(&counted[j], 1ull);
    }
  }
  __syncthreads();
  for (int i = static_cast<int>(threadIdx.x); i < entries; i += insert_threads) {
    if (counted[i] != 0) {
      atomicAdd(reinterpret_cast<unsigned long long*>(counts + row_number * counts_stride + i),
                counted[i]);
    }
  }
}

}  // namespace gpu::kernels::select
