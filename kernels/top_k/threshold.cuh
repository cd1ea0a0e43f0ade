#pragma once
// `threshold`: one read of the data.
//
// 1. sample_kernel: warps look at `samples` elements, one in each of as many equal strata at a
//    hashed place, and pass on the best four composites of each 128.
// 2. filter_kernel: every block finds the bound in that list for itself (cheaper than another
//    launch), then streams its tiles of the row and appends what reaches the bound.
// 3. finish_kernel: one block per row takes the k best of the candidates and sorts them.
//
// As composites differ, the share of elements above a sampled composite is known whatever the data:
// all equal, sorted or two-valued input gives as many candidates as random input does. The chance
// of fewer than k candidates is below 1e-10. Then, and where candidates overflow, which only data
// made against the hash can cause, the finishing block selects from the row itself: slower, with
// the same answer.
//
// Shared memory: finish_kernel up to 100 KiB for k above 2048, less where a device has less.
// Access: 16-byte loads, four in flight per thread; unaligned ends of rows one by one.

#include "kernels/common/dependent_launch.cuh"
#include "kernels/top_k/block.cuh"
#include "kernels/top_k/call.cuh"

namespace gpu::kernels::select {

/// Where stratum `s` of `strata` of a row of `cols` elements is looked at: at a hashed place in it.
__device__ inline index_t sample_position(index_t s, index_t strata, index_t cols) {
  const int bits = __ffsll(strata) - 1;  // a power of two
  const index_t begin = (s * cols) >> bits;
  const auto width = static_cast<uint64_t>((((s + 1) * cols) >> bits) - begin);
  const uint64_t hash =
      static_cast<uint32_t>((static_cast<uint64_t>(s) + 1) * 0x9e3779b97f4a7c15u >> 32);
  return begin + static_cast<index_t>((hash * width) >> 32);
}

/// Blocks [samples / samples_per_block, rows] of sample_threads. `list` is [rows, kept], `filled`
/// [rows] is set to 0. Distinct: a warp passes on its best four different keys.
template <class T, class Composite, bool Distinct>
__global__ void __launch_bounds__(sample_threads)
    sample_kernel(top_k_source<T> source, index_t samples, Composite* list,
                  unsigned long long* filled) {
  let_next_kernel_start();
  const index_t row_number = blockIdx.y;
  const T* row = source.row(row_number);
  if (blockIdx.x == 0 && threadIdx.x == 0) filled[row_number] = 0;
  const index_t warp = static_cast<index_t>(blockIdx.x) * (sample_threads / 32) + threadIdx.x / 32;
  const int lane = static_cast<int>(threadIdx.x % 32);
  constexpr int per_lane = samples_per_warp / 32;
  Composite items[per_lane];
#pragma unroll
  for (int i = 0; i < per_lane; ++i) {
    // Neighbouring lanes take strata far apart, so that each warp samples all of the row.
    const index_t warps = samples / samples_per_warp;
    const index_t stratum = (static_cast<index_t>(i) * 32 + lane) * warps + warp;
    const index_t at = sample_position(stratum, samples, source.cols);
    items[i] = compose<T, Composite>(make_key(row[at], source.flip), at);
  }
  Composite* mine = list + (row_number * (samples / samples_per_warp) + warp) * kept_per_warp;
#pragma unroll
  for (int kept = 0; kept < kept_per_warp; ++kept) {
    Composite largest = items[0];
#pragma unroll
    for (int i = 1; i < per_lane; ++i) largest = items[i] > largest ? items[i] : largest;
    largest = warp_max(largest);
    if (lane == 0) mine[kept] = largest;
#pragma unroll
    for (int i = 0; i < per_lane; ++i) {
      const bool taken = Distinct ? key_of<T>(items[i]) == key_of<T>(largest) : items[i] == largest;
      if (taken) items[i] = 0;
    }
  }
}

/// filled [rows] = 0, where no sample does it.
template <class Word>
__global__ void clear_kernel(Word* filled, index_t rows) {
  let_next_kernel_start();
  const index_t i = static_cast<index_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i < rows) filled[i] = 0;
}

/// The bound of one row from its list, found by the whole block.
template <class Composite>
__device__ inline Composite bound_of_list(const Composite* list, index_t kept, unsigned rank,
                                          unsigned* counters) {
  constexpr int items_per_thread =
      static_cast<int>(most_samples / samples_per_warp * kept_per_warp / filter_threads);
  if (kept == 0) return 0;
  if (kept <= most_ranked_list) {
    // Few: each is ranked by counting.
    __shared__ Composite items[most_ranked_list];
    __shared__ Composite bound;
    const Composite mine = threadIdx.x < kept ? list[threadIdx.x] : Composite{0};
    if (threadIdx.x < kept) items[threadIdx.x] = mine;
    if (threadIdx.x == 0) bound = 0;
    __syncthreads();
    if (mine != 0) {
      unsigned larger = 0;
      for (index_t j = 0; j < kept; ++j) larger += items[j] > mine ? 1u : 0u;
      if (larger == rank - 1) bound = mine;
    }
    __syncthreads();
    return bound;
  }
  if (kept <= filter_threads) {
    const Composite one[1] = {threadIdx.x < kept ? list[threadIdx.x] : Composite{0}};
    return block_bound_by_bits(one, rank, 0, counters);
  }
  Composite items[items_per_thread];
#pragma unroll
  for (int i = 0; i < items_per_thread; ++i) {
    const index_t at = static_cast<index_t>(i) * filter_threads + threadIdx.x;
    items[i] = at < kept ? list[at] : Composite{0};
  }
  return block_bound_by_bits(items, rank, 0, counters);
}

/// Asks the L2 for the block's first tile, before the bound is known.
template <class T>
__device__ inline void prefetch_first_tile(const T* row, index_t cols) {
  constexpr index_t per_thread = 16 * filter_unroll / static_cast<index_t>(sizeof(T));
  const index_t at = (static_cast<index_t>(blockIdx.x) * filter_threads + threadIdx.x) * per_thread;
  if (at < cols) asm volatile("prefetch.global.L2 [%0];" ::"l"(row + at));
}

/// Walks the elements of a row that reach a bound, tile by tile, over all blocks of the row.
/// Within a tile the bound is one on keys alone: a tile behind the bound's position needs a
/// strictly better key. `take(composite)` is called for each hit.
template <class T, class Composite, class Take>
__device__ inline void filter_row(const T* row, index_t cols, key_t<T> flip, Composite bound,
                                  const Take& take) {
  constexpr int size = element_vector<T>::size;
  constexpr index_t tile = static_cast<index_t>(filter_threads) * filter_unroll;
  const vector_split<T> split(row, cols);
  const auto* vectors = reinterpret_cast<const uint4*>(row + split.head);
  const key_t<T> bound_key = key_of<T>(bound);
  const index_t bound_position = position_of<T>(bound);
  constexpr key_t<T> best_key = flip_of<T>(false);
  const auto test = [&](index_t position, T value) {
    const Composite c = compose<T, Composite>(make_key(value, flip), position);
    if (c >= bound) take(c);
  };
  if (blockIdx.x == 0) {
    for (index_t i = threadIdx.x; i < split.head; i += filter_threads) test(i, row[i]);
    for (index_t i = split.tail + threadIdx.x; i < cols; i += filter_threads) test(i, row[i]);
  }
  for (index_t first = static_cast<index_t>(blockIdx.x) * tile; first < split.vectors;
       first += static_cast<index_t>(gridDim.x) * tile) {
    const bool behind = split.head + first * size > bound_position;
    if (behind && bound_key == best_key) break;
    const rival_test<T> reaches(bound_key + (behind ? 1 : 0));
    uint4 loaded[filter_unroll];
    if (first + tile <= split.vectors) {
#pragma unroll
      for (int u = 0; u < filter_unroll; ++u) {
        loaded[u] = __ldcs(vectors + first + u * filter_threads + threadIdx.x);
      }
    } else {
#pragma unroll
      for (int u = 0; u < filter_unroll; ++u) {
        const index_t v = first + u * filter_threads + threadIdx.x;
        if (v < split.vectors) loaded[u] = __ldcs(vectors + v);
      }
    }
#pragma unroll
    for (int u = 0; u < filter_unroll; ++u) {
      const index_t v = first + u * filter_threads + threadIdx.x;
      if (v >= split.vectors) break;
      element_vector<T> items;
      memcpy(&items, &loaded[u], 16);
      if (reaches(best_rival(items, flip))) {
        for (int j = 0; j < size; ++j)
          test(split.head + v * size + j, row[split.head + v * size + j]);
      }
    }
  }
}

/// Blocks [any, rows] of filter_threads. Candidates [rows, capacity]; filled [rows] counts them,
/// also those beyond the capacity, which are not kept.
template <class T, class Composite>
__global__ void __launch_bounds__(filter_threads, resident_threads / filter_threads)
    filter_kernel(top_k_source<T> source, const Composite* list, sample_plan plan,
                  Composite* candidates, unsigned long long* filled) {
  __shared__ unsigned counters[3];
  const index_t row_number = blockIdx.y;
  prefetch_first_tile(source.row(row_number), source.cols);
  wait_for_previous_kernel();
  let_next_kernel_start();
  const Composite bound =
      bound_of_list(list + row_number * plan.kept, plan.kept, plan.rank, counters);
  Composite* mine = candidates + row_number * plan.capacity;
  filter_row<T>(source.row(row_number), source.cols, source.flip, bound, [&](Composite c) {
    const auto place = static_cast<index_t>(atomicAdd(&filled[row_number], 1ull));
    if (place < plan.capacity) mine[place] = c;
  });
}

/// Blocks that share the ranking of one row, of at most `limit` composites.
inline unsigned finish_blocks(index_t limit, index_t rows, int multiprocessors) {
  const index_t wanted = limit * limit / finish_comparisons;
  const index_t most = std::max<index_t>(1, multiprocessors / rows);
  return static_cast<unsigned>(std::clamp<index_t>(wanted, 1, most));
}

/// Collects what reaches `bound` of what visit_all visits into items, and returns how many.
template <class Composite, class VisitAll>
__device__ inline unsigned block_collect(const VisitAll& visit_all, Composite bound,
                                         Composite* items, unsigned* counter) {
  if (threadIdx.x == 0) *counter = 0;
  __syncthreads();
  visit_all([&](Composite c) {
    if (c >= bound) items[atomicAdd(counter, 1u)] = c;
  });
  __syncthreads();
  return *counter;
}

/// Narrows what visit_all visits (at least k composites) down to at most `limit` that hold the k
/// best, in `items`; returns how many.
template <class Composite, class Count, class VisitAll>
__device__ inline unsigned block_narrow(const VisitAll& visit_all, Count k, unsigned limit,
                                        Composite* items, refine_memory<Count>& memory) {
  __shared__ unsigned counter;
  const Composite bound = block_bound<Composite>(visit_all, k, static_cast<Count>(limit), memory);
  return block_collect(visit_all, bound, items, &counter);
}

/// Ranks by counting: the blocks of a row share the items by position, a warp ranks one at a time
/// against all of them in shared memory. No order is needed among blocks, and no sort.
template <class T, class Composite, class Put>
__device__ inline void rank_by_counting(const Composite* items, unsigned count, unsigned k,
                                        unsigned block, unsigned blocks, const Put& put) {
  __shared__ unsigned next;
  const unsigned lane = threadIdx.x % 32;
  if (blocks == 1) {
    for (unsigned i = threadIdx.x / 32; i < count; i += blockDim.x / 32) {
      const Composite mine = items[i];
      unsigned rank = 0;
      for (unsigned j = lane; j < count; j += 32) rank += items[j] > mine ? 1u : 0u;
      rank = warp_sum(rank);
      if (rank < k && lane == 0) put(rank, mine);
    }
    return;
  }
  __shared__ unsigned short own[finish_most_own];
  if (threadIdx.x == 0) next = 0;
  __syncthreads();
  for (unsigned i = threadIdx.x; i < count; i += blockDim.x) {
    if (static_cast<unsigned>(position_of<T>(items[i]) % blocks) == block) {
      const unsigned place = atomicAdd(&next, 1u);
      if (place < finish_most_own) own[place] = static_cast<unsigned short>(i);
    }
  }
  __syncthreads();
  const unsigned owned = next;
  // Where positions crowd one block, it looks for its items again instead of having a list.
  const bool listed = owned <= finish_most_own;
  const unsigned last = listed ? owned : count;
  for (unsigned i = threadIdx.x / 32; i < last; i += blockDim.x / 32) {
    const Composite mine = items[listed ? own[i] : i];
    if (!listed && static_cast<unsigned>(position_of<T>(mine) % blocks) != block) continue;
    unsigned rank = 0;
    for (unsigned j = lane; j < count; j += 32) rank += items[j] > mine ? 1u : 0u;
    rank = warp_sum(rank);
    if (rank < k && lane == 0) put(rank, mine);
  }
}

/// Blocks [finish_blocks, rows] of finish_threads. Every block of a row narrows the candidates
/// down to the same few (from registers where they fit), then ranks its share of them.
/// Dynamic shared memory: `limit` composites, finish_limit of k.
template <class T, class Composite>
__global__ void __launch_bounds__(finish_threads)
    finish_kernel(top_k_source<T> source, const Composite* candidates, sample_plan plan,
                  const unsigned long long* filled, unsigned k, unsigned limit, row_sink<T> sink) {
  using count = count_t<T, Composite>;
  extern __shared__ __align__(16) unsigned char dynamic_memory[];
  auto* items = reinterpret_cast<Composite*>(dynamic_memory);
  __shared__ refine_memory<count> memory;
  __shared__ unsigned counter;
  wait_for_previous_kernel();
  const index_t row_number = blockIdx.y;
  const T* row = source.row(row_number);
  const auto found = static_cast<index_t>(filled[row_number]);
  const Composite* mine = candidates + row_number * plan.capacity;
  constexpr int held = sizeof(Composite) == 8 ? 16 : 4;
  unsigned kept;
  if (found < k || found > plan.capacity) {
    const auto visit_row = [&](const auto& visit) {
      block_visit_row(row, source.cols, [&](index_t position, T value) {
        visit(compose<T, Composite>(make_key(value, source.flip), position));
      });
    };
    kept = block_narrow<Composite, count>(visit_row, k, limit, items, memory);
  } else if (found <= held * finish_threads) {
    Composite registers[held];
#pragma unroll
    for (int i = 0; i < held; ++i) {
      const index_t at = static_cast<index_t>(i) * finish_threads + threadIdx.x;
      registers[i] = at < found ? mine[at] : Composite{0};
    }
    const auto visit_registers = [&](const auto& visit) {
#pragma unroll
      for (int i = 0; i < held; ++i) {
        if (registers[i] != 0) visit(registers[i]);
      }
    };
    kept = found <= limit
               ? block_collect(visit_registers, Composite{1}, items, &counter)
               : block_narrow<Composite, count>(visit_registers, k, limit, items, memory);
  } else {
    const auto visit_candidates = [&](const auto& visit) {
#pragma unroll 4
      for (index_t i = threadIdx.x; i < found; i += finish_threads) visit(mine[i]);
    };
    kept = block_narrow<Composite, count>(visit_candidates, k, limit, items, memory);
  }
  rank_by_counting<T>(items, kept, k, blockIdx.x, gridDim.x, [&](unsigned rank, Composite c) {
    sink.put(row_number, rank, row, position_of<T>(c));
  });
}

template <class T, class Composite>
struct threshold_memory {
  sample_plan plan;
  index_t rows_per_pass;
  Composite* list;
  Composite* candidates;
  unsigned long long* filled;
  std::size_t bytes;

  threshold_memory(index_t rows, index_t cols, index_t k, void* memory)
      : plan(plan_sample(cols, k)) {
    rows_per_pass =
        rows_of_pass(rows, (plan.kept + plan.capacity) * static_cast<index_t>(sizeof(Composite)));
    cuda::arena pieces(memory);
    list = pieces.take<Composite>(rows_per_pass * plan.kept);
    candidates = pieces.take<Composite>(rows_per_pass * plan.capacity);
    filled = pieces.take<unsigned long long>(rows_per_pass);
    bytes = pieces.bytes();
  }
};

template <class T, class Composite, bool Distinct>
void launch_sample(const top_k_call<T>& call, const sample_plan& plan, Composite* list,
                   unsigned long long* filled) {
  if (plan.kept == 0) {
    clear_kernel<<<grid_blocks(call.rows, 256), 256, 0, call.stream>>>(filled, call.rows);
    GPU_SIMILARITY_CHECK_LAUNCH();
    return;
  }
  const dim3 grid(static_cast<unsigned>(plan.samples / samples_per_block),
                  static_cast<unsigned>(call.rows));
  sample_kernel<T, Composite, Distinct>
      <<<grid, sample_threads, 0, call.stream>>>(call.source, plan.samples, list, filled);
  GPU_SIMILARITY_CHECK_LAUNCH();
}

template <class T, class Composite>
void run_threshold(const top_k_call<T>& whole, void* workspace) {
  const threshold_memory<T, Composite> memory(whole.rows, whole.source.cols, whole.k, workspace);
  const unsigned limit = finish_limit(whole.k, sizeof(Composite), whole.shared_bytes);
  const std::size_t shared = limit * sizeof(Composite);
  allow_shared_memory(finish_kernel<T, Composite>, shared);
  for (index_t first = 0; first < whole.rows; first += memory.rows_per_pass) {
    const top_k_call<T> call =
        whole.part(first, std::min(memory.rows_per_pass, whole.rows - first));
    launch_sample<T, Composite, false>(call, memory.plan, memory.list, memory.filled);
    const dim3 grid(filter_blocks(call), static_cast<unsigned>(call.rows));
    launch_dependent(filter_kernel<T, Composite>, grid, filter_threads, 0, call.stream, call.source,
                     static_cast<const Composite*>(memory.list), memory.plan, memory.candidates,
                     memory.filled);
    const dim3 blocks(finish_blocks(limit, call.rows, call.multiprocessors),
                      static_cast<unsigned>(call.rows));
    launch_dependent(finish_kernel<T, Composite>, blocks, finish_threads, shared, call.stream,
                     call.source, static_cast<const Composite*>(memory.candidates), memory.plan,
                     static_cast<const unsigned long long*>(memory.filled),
                     static_cast<unsigned>(call.k), limit, call.sink);
  }
}

}  // namespace gpu::kernels::select
