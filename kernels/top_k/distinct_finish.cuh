#pragma once
// The last launch of `threshold` for distinct values: one block a row sorts the list in chunks,
// adds up equal keys and keeps the best k. A value among the best k of all is among the best k of
// every chunk that holds it, so no count is lost. Where the list overflowed, the row itself takes
// its place.

#include "kernels/top_k/distinct.cuh"

namespace gpu::kernels::select {

inline constexpr unsigned distinct_chunk = 2048;
inline constexpr int top_k_distinct_room = detail::top_k_threshold_most_distinct_k;

/// Shared memory of distinct_finish_kernel. Counts stand apart from composites, which would pad
/// them to 16 bytes: 58 KiB for the widest.
template <class Composite>
struct distinct_memory {
  Composite firsts[distinct_chunk];
  unsigned long long counts[distinct_chunk];
  unsigned long long sums[top_k_distinct_room];
  unsigned scratch[33];
  unsigned used;
  Composite bound;
};

/// Beside it the kernel takes less than 2 KiB; sm_75 gives a block 64.
static_assert(sizeof(distinct_memory<uint128_t>) <= 62 * 1024);

/// Sorts what stands at [0, size) by composite, the largest first.
template <class Composite>
__device__ inline void block_sort_counted(distinct_memory<Composite>& memory, unsigned size) {
  for (unsigned length = 2; length <= size; length *= 2) {
    for (unsigned step = length / 2; step > 0; step /= 2) {
      __syncthreads();
      for (unsigned pair = threadIdx.x; pair < size / 2; pair += finish_threads) {
        const unsigned i = 2 * pair - (pair & (step - 1));
        const unsigned j = i + step;
        const Composite a = memory.firsts[i];
        const Composite b = memory.firsts[j];
        if ((a < b) == ((i & length) == 0)) {
          memory.firsts[i] = b;
          memory.firsts[j] = a;
          const unsigned long long count = memory.counts[i];
          memory.counts[i] = memory.counts[j];
          memory.counts[j] = count;
        }
      }
    }
  }
  __syncthreads();
}

/// Sorts the `used` entries of memory, adds up equal keys and keeps the best k.
template <class T, class Composite>
__device__ inline void block_unite(distinct_memory<Composite>& memory, unsigned k) {
  const unsigned used = memory.used;
  const unsigned size = next_power_of_two(used);
  for (unsigned i = used + threadIdx.x; i < size; i += finish_threads) {
    memory.firsts[i] = 0;
    memory.counts[i] = 0;
  }
  for (unsigned i = threadIdx.x; i < k; i += finish_threads) memory.sums[i] = 0;
  block_sort_counted(memory, size);
  constexpr unsigned per_thread = distinct_chunk / finish_threads;
  Composite mine[per_thread];
  unsigned rank[per_thread];
  bool head[per_thread];
  unsigned heads = 0;
#pragma unroll
  for (unsigned i = 0; i < per_thread; ++i) {
    // Neighbouring items to one thread, so that one scan numbers all keys.
    const unsigned at = threadIdx.x * per_thread + i;
    mine[i] = at < size ? memory.firsts[at] : Composite{0};
    head[i] = mine[i] != 0 && (at == 0 || key_of<T>(memory.firsts[at - 1]) != key_of<T>(mine[i]));
    heads += head[i] ? 1u : 0u;
  }
  unsigned total;
  unsigned next = block_exclusive_sum(heads, total, memory.scratch);
#pragma unroll
  for (unsigned i = 0; i < per_thread; ++i) {
    next += head[i] ? 1u : 0u;
    rank[i] = next - 1;
    if (mine[i] != 0 && rank[i] < k) {
      atomicAdd(&memory.sums[rank[i]], memory.counts[threadIdx.x * per_thread + i]);
    }
  }
  __syncthreads();
#pragma unroll
  for (unsigned i = 0; i < per_thread; ++i) {
    if (head[i] && rank[i] < k) {
      memory.firsts[rank[i]] = mine[i];
      memory.counts[rank[i]] = memory.sums[rank[i]];
      if (rank[i] == k - 1) {
        memory.bound = static_cast<Composite>(key_of<T>(mine[i])) << position_bits<T, Composite>;
      }
    }
  }
  if (threadIdx.x == 0) memory.used = total < k ? total : k;
  __syncthreads();
}

/// Unites get(0) .. get(total - 1) chunk by chunk.
template <class T, class Composite, class Get>
__device__ inline void block_unite_all(distinct_memory<Composite>& memory, index_t total,
                                       unsigned k, const Get& get) {
  for (index_t first = 0; first < total; first += finish_threads) {
    const index_t at = first + threadIdx.x;
    if (at < total) {
      const counted_composite<Composite> item = get(at);
      if (item.first >= memory.bound) {
        const unsigned place = atomicAdd(&memory.used, 1u);
        memory.firsts[place] = item.first;
        memory.counts[place] = item.count;
      }
    }
    __syncthreads();
    const bool full = memory.used + finish_threads > distinct_chunk;
    __syncthreads();
    if (full) block_unite<T>(memory, k);
  }
  block_unite<T>(memory, k);
}

/// One block of finish_threads per row. Dynamic shared memory: distinct_memory.
template <class T, class Composite>
__global__ void __launch_bounds__(finish_threads)
    distinct_finish_kernel(top_k_source<T> source, const counted_composite<Composite>* entries,
                           sample_plan plan, const unsigned long long* filled, unsigned k,
                           row_sink<T> sink, index_t* counts, index_t counts_stride,
                           index_t* found) {
  extern __shared__ __align__(16) unsigned char dynamic_memory[];
  auto& memory = *reinterpret_cast<distinct_memory<Composite>*>(dynamic_memory);
  wait_for_previous_kernel();
  const index_t row_number = blockIdx.x;
  const T* row = source.row(row_number);
  const auto listed = static_cast<index_t>(filled[row_number]);
  const counted_composite<Composite>* mine = entries + row_number * plan.capacity;
  if (threadIdx.x == 0) {
    memory.used = 0;
    memory.bound = 0;
  }
  __syncthreads();
  if (listed <= plan.capacity) {
    block_unite_all<T>(memory, listed, k, [&](index_t i) { return mine[i]; });
  } else {
    block_unite_all<T>(memory, source.cols, k, [&](index_t i) {
      return counted_composite<Composite>{compose<T, Composite>(make_key(row[i], source.flip), i),
                                          1};
    });
  }
  for (unsigned i = threadIdx.x; i < k; i += finish_threads) {
    const bool there = i < memory.used;
    if (there) {
      sink.put(row_number, i, row, position_of<T>(memory.firsts[i]));
    } else {
      sink.put_nothing(row_number, i);
    }
    counts[row_number * counts_stride + i] = there ? static_cast<index_t>(memory.counts[i]) : 0;
  }
  if (threadIdx.x == 0) found[row_number] = memory.used;
}

template <class T, class Composite>
struct distinct_workspace {
  sample_plan plan;
  index_t rows_per_pass;
  Composite* list;
  counted_composite<Composite>* entries;
  unsigned long long* filled;
  std::size_t bytes;

  distinct_workspace(index_t rows, index_t cols, index_t k, std::size_t shared_bytes, void* memory)
      : plan(plan_distinct_sample(cols, k, sizeof(Composite), shared_bytes)) {
    rows_per_pass = rows_of_pass(rows, plan.capacity * static_cast<index_t>(sizeof(*entries)) +
                                           plan.kept * static_cast<index_t>(sizeof(Composite)));
    cuda::arena pieces(memory);
    list = pieces.take<Composite>(rows_per_pass * plan.kept);
    entries = pieces.take<counted_composite<Composite>>(rows_per_pass * plan.capacity);
    filled = pieces.take<unsigned long long>(rows_per_pass);
    bytes = pieces.bytes();
  }
};

template <class T, class Composite>
void run_distinct_threshold(const top_k_call<T>& whole, void* workspace) {
  const distinct_workspace<T, Composite> memory(whole.rows, whole.source.cols, whole.k,
                                                whole.shared_bytes, workspace);
  const std::size_t filter_shared =
      next_power_of_two(static_cast<unsigned>(memory.plan.kept)) * sizeof(Composite);
  const std::size_t finish_shared = sizeof(distinct_memory<Composite>);
  allow_shared_memory(distinct_filter_kernel<T, Composite>, filter_shared);
  allow_shared_memory(distinct_finish_kernel<T, Composite>, finish_shared);
  for (index_t first = 0; first < whole.rows; first += memory.rows_per_pass) {
    const top_k_call<T> call =
        whole.part(first, std::min(memory.rows_per_pass, whole.rows - first));
    launch_sample<T, Composite, true>(call, memory.plan, memory.list, memory.filled);
    const dim3 grid(filter_blocks(call), static_cast<unsigned>(call.rows));
    launch_dependent(distinct_filter_kernel<T, Composite>, grid, filter_threads, filter_shared,
                     call.stream, call.source, static_cast<const Composite*>(memory.list),
                     memory.plan, memory.entries, memory.filled);
    launch_dependent(distinct_finish_kernel<T, Composite>, static_cast<unsigned>(call.rows),
                     finish_threads, finish_shared, call.stream, call.source,
                     static_cast<const counted_composite<Composite>*>(memory.entries), memory.plan,
                     static_cast<const unsigned long long*>(memory.filled),
                     static_cast<unsigned>(call.k), call.sink, call.counts, call.counts_stride,
                     call.found);
  }
}

}  // namespace gpu::kernels::select
