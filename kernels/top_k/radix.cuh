#pragma once
// `radix_select`: any k, by histograms of the composites' digits.
//
// Each pass reads the row and counts, among the composites that share the bits found so far, how
// often each next digit occurs; the last block to finish finds the digit of the k-th largest.
// Three passes settle a 32-bit key. The passes over the digits of the position read the row only
// where equal keys straddle the k-th place; else they return at once. A last read collects the k
// composites, which are then sorted. So the row is read four times or more, for any k and any data.
// Shared memory: 8 KiB of histogram. Rows are done one after the other.

#include "kernels/top_k/sort.hpp"
#include "kernels/top_k/threshold.cuh"

namespace gpu::kernels::select {

inline constexpr int digit_bits = 11;
inline constexpr int digit_values = 1 << digit_bits;

/// What the passes know. All zero at the start.
template <class Composite>
struct radix_state {
  Composite bound;               ///< The bits found so far, zeros behind them.
  unsigned long long above;      ///< Composites known to be larger than all that share them.
  unsigned long long collected;  ///< Of the collecting pass.
  unsigned blocks_done;
  int settled;  ///< Exactly k composites reach the bound.
  unsigned long long bins[digit_values];
};

/// One digit: bits [shift, shift + width) of the composite; `ones` are bits above it that every
/// composite has set.
template <class Composite>
struct radix_digit {
  int shift;
  int width;
  Composite ones;
};

/// Counts the digits of the row's composites that share the bits `found`, in the block's `bins`.
/// The blocks share the row out among them. All threads call.
template <class T, class Composite>
__device__ inline void count_digits(const top_k_source<T>& source, index_t row_number,
                                    const radix_digit<Composite>& digit, Composite found,
                                    unsigned* bins) {
  const auto mask = static_cast<unsigned>((1u << digit.width) - 1);
  const T* row = source.row(row_number);
  const auto visit = [&](index_t position, T value) {
    const Composite c = compose<T, Composite>(make_key(value, source.flip), position);
    // Shifted in two steps: the digit may end at the top.
    if (((((c ^ found) >> digit.shift) >> digit.width)) == 0) {
      atomicAdd(&bins[static_cast<unsigned>(c >> digit.shift) & mask], 1u);
    }
  };
  const vector_split<T> split(row, source.cols);
  constexpr int size = element_vector<T>::size;
  const auto* vectors = reinterpret_cast<const element_vector<T>*>(row + split.head);
  const index_t step = static_cast<index_t>(gridDim.x) * radix_threads;
  const index_t thread = static_cast<index_t>(blockIdx.x) * radix_threads + threadIdx.x;
  for (index_t i = thread; i < split.head; i += step) visit(i, row[i]);
#pragma unroll 2
  for (index_t v = thread; v < split.vectors; v += step) {
    const element_vector<T> loaded = vectors[v];
#pragma unroll
    for (int j = 0; j < size; ++j) visit(split.head + v * size + j, loaded.item[j]);
  }
  for (index_t i = split.tail + thread; i < source.cols; i += step) visit(i, row[i]);
}

/// Adds the block's bins to those of all blocks; true for the block that is last to do so.
template <class Composite>
__device__ inline bool add_bins_and_end(const unsigned* bins, radix_state<Composite>* state) {
  __shared__ bool is_last;
  for (int b = static_cast<int>(threadIdx.x); b < digit_values; b += radix_threads) {
    if (bins[b] != 0) atomicAdd(&state->bins[b], static_cast<unsigned long long>(bins[b]));
  }
  __threadfence();
  __syncthreads();
  if (threadIdx.x == 0) is_last = atomicAdd(&state->blocks_done, 1u) == gridDim.x - 1;
  __syncthreads();
  return is_last;
}

/// The last block: finds the digit of the k-th largest composite from the bins of all blocks, adds
/// it to the bound, and clears the bins for the next pass.
template <class Composite>
__device__ inline void choose_digit(unsigned long long k, const radix_digit<Composite>& digit,
                                    Composite found, radix_state<Composite>* state) {
  __shared__ unsigned long long scratch[33];
  constexpr int per_thread = digit_values / radix_threads;
  const int first = digit_values - 1 - static_cast<int>(threadIdx.x) * per_thread;
  unsigned long long here[per_thread];
  unsigned long long mine = 0;
#pragma unroll
  for (int b = 0; b < per_thread; ++b) {
    here[b] = __ldcg(&state->bins[first - b]);
    state->bins[first - b] = 0;
    mine += here[b];
  }
  unsigned long long total;
  unsigned long long before = state->above + block_exclusive_sum(mine, total, scratch);
  if (before < k && before + mine >= k) {
#pragma unroll
    for (int b = 0; b < per_thread; ++b) {
      if (before < k && before + here[b] >= k) {
        state->bound = found | (static_cast<Composite>(first - b) << digit.shift);
        state->above = before;
        state->settled = before + here[b] == k ? 1 : 0;
        before += here[b];
        break;
      }
      before += here[b];
    }
  }
  if (threadIdx.x == 0) state->blocks_done = 0;
}

/// One pass over the row. Blocks [any] of radix_threads.
template <class T, class Composite>
__global__ void __launch_bounds__(radix_threads)
    radix_pass_kernel(top_k_source<T> source, index_t row_number, unsigned long long k,
                      radix_digit<Composite> digit, radix_state<Composite>* state) {
  if (state->settled != 0) return;
  __shared__ unsigned bins[digit_values];
  for (int b = static_cast<int>(threadIdx.x); b < digit_values; b += radix_threads) bins[b] = 0;
  const Composite found = state->bound | digit.ones;
  __syncthreads();
  count_digits(source, row_number, digit, found, bins);
  __syncthreads();
  if (!add_bins_and_end(bins, state)) return;
  __threadfence();
  choose_digit(k, digit, found, state);
}

/// Appends the k composites that reach the bound, in any order. Blocks [any] of filter_threads.
template <class T, class Composite>
__global__ void __launch_bounds__(filter_threads, resident_threads / filter_threads)
    collect_kernel(top_k_source<T> source, index_t row_number, radix_state<Composite>* state,
                   Composite* chosen) {
  filter_row<T>(source.row(row_number), source.cols, source.flip, state->bound,
                [&](index_t, Composite c) { chosen[atomicAdd(&state->collected, 1ull)] = c; });
}

/// The part of the row that one of the blocks of the ordered collection looks at.
struct row_part {
  index_t begin;
  index_t end;
  __device__ row_part(index_t cols) {
    const index_t length = ceil_div(cols, gridDim.x);
    begin = static_cast<index_t>(blockIdx.x) * length;
    end = begin + length < cols ? begin + length : cols;
  }
};

/// counts[block] = elements of the block's part that reach the bound. Blocks [at most 1024].
template <class T, class Composite>
__global__ void __launch_bounds__(radix_threads)
    count_parts_kernel(top_k_source<T> source, index_t row_number,
                       const radix_state<Composite>* state, unsigned long long* counts) {
  __shared__ unsigned long long scratch[33];
  const T* row = source.row(row_number);
  const Composite bound = state->bound;
  const row_part part(source.cols);
  unsigned long long mine = 0;
  for (index_t i = part.begin + threadIdx.x; i < part.end; i += radix_threads) {
    mine += compose<T, Composite>(make_key(row[i], source.flip), i) >= bound ? 1 : 0;
  }
  unsigned long long total;
  block_exclusive_sum(mine, total, scratch);
  if (threadIdx.x == 0) counts[blockIdx.x] = total;
}

/// Writes the entries in order of position. The same grid as count_parts_kernel.
template <class T, class Composite>
__global__ void __launch_bounds__(radix_threads)
    write_parts_kernel(top_k_source<T> source, index_t row_number,
                       const radix_state<Composite>* state, const unsigned long long* counts,
                       row_sink<T> sink) {
  __shared__ unsigned long long scratch[33];
  const T* row = source.row(row_number);
  const Composite bound = state->bound;
  const row_part part(source.cols);
  unsigned long long before = 0;
  for (unsigned b = threadIdx.x; b < blockIdx.x; b += radix_threads) before += counts[b];
  unsigned long long at;
  block_exclusive_sum(before, at, scratch);
  for (index_t first = part.begin; first < part.end; first += radix_threads) {
    const index_t i = first + threadIdx.x;
    const bool hit =
        i < part.end && compose<T, Composite>(make_key(row[i], source.flip), i) >= bound;
    unsigned long long total;
    const unsigned long long place = at + block_exclusive_sum(hit ? 1ull : 0ull, total, scratch);
    if (hit) sink.put(row_number, static_cast<index_t>(place), row, i);
    at += total;
  }
}

/// Sorts at most `limit` composites and writes them. One block of finish_threads.
template <class T, class Composite>
__global__ void __launch_bounds__(finish_threads)
    emit_few_kernel(top_k_source<T> source, index_t row_number, const Composite* chosen, unsigned k,
                    row_sink<T> sink) {
  extern __shared__ __align__(16) unsigned char dynamic_memory[];
  auto* items = reinterpret_cast<Composite*>(dynamic_memory);
  for (unsigned i = threadIdx.x; i < k; i += finish_threads) items[i] = chosen[i];
  __syncthreads();
  const T* row = source.row(row_number);
  block_emit_sorted(items, k, k, [&](unsigned rank, Composite c) {
    sink.put(row_number, rank, row, position_of<T>(c));
  });
}

/// Writes the first k of sorted composites [rows, pitch] of the rows from `first_row` on.
template <class T, class Composite>
__global__ void emit_sorted_kernel(top_k_source<T> source, index_t first_row, index_t rows,
                                   const Composite* sorted, index_t pitch, index_t k,
                                   row_sink<T> sink) {
  const index_t step = static_cast<index_t>(gridDim.x) * blockDim.x;
  for (index_t i = static_cast<index_t>(blockIdx.x) * blockDim.x + threadIdx.x; i < rows * k;
       i += step) {
    const index_t local = i / k;
    const index_t rank = i % k;
    const index_t row_number = first_row + local;
    sink.put(row_number, rank, source.row(row_number),
             position_of<T>(sorted[local * pitch + rank]));
  }
}

template <class T, class Composite>
struct radix_memory {
  radix_state<Composite>* state;
  unsigned long long* counts;
  Composite* chosen;
  Composite* ordered;
  void* sort_memory;
  std::size_t sort_bytes;
  std::size_t bytes;

  radix_memory(index_t k, bool sorted, void* memory) {
    const bool sorts = sorted && k > detail::top_k_threshold_most_k;
    sort_bytes = sorts ? sort_composites_workspace<Composite>(1, k) : 0;
    cuda::arena pieces(memory);
    state = pieces.take<radix_state<Composite>>(1);
    counts = pieces.take<unsigned long long>(1024);
    chosen = pieces.take<Composite>(sorted || !sorts ? k : 0);
    ordered = pieces.take<Composite>(sorts ? k : 0);
    sort_memory = pieces.take<std::byte>(sort_bytes);
    bytes = pieces.bytes();
  }
};

/// Finds the bound that exactly k composites of the row reach.
template <class T, class Composite>
void launch_radix_passes(const top_k_call<T>& call, index_t row_number,
                         radix_state<Composite>* state) {
  GPU_SIMILARITY_CUDA_CHECK(cudaMemsetAsync(state, 0, sizeof(*state), call.stream));
  const index_t cols = call.source.cols;
  const unsigned blocks =
      grid_blocks(cols, radix_threads * 64, call.multiprocessors * radix_blocks_per_sm);
  const auto pass = [&](int shift, int width, Composite ones) {
    radix_pass_kernel<T, Composite><<<blocks, radix_threads, 0, call.stream>>>(
        call.source, row_number, static_cast<unsigned long long>(call.k),
        radix_digit<Composite>{shift, width, ones}, state);
    GPU_SIMILARITY_CHECK_LAUNCH();
  };
  constexpr int low_end = position_bits<T, Composite>;
  for (int left = key_bits<T>; left > 0;) {
    const int width = std::min(left, digit_bits);
    left -= width;
    pass(low_end + left, width, 0);
  }
  // Positions below 2^bits leave ones above those bits of the complement.
  int bits = 1;
  while (bits < 63 && ((cols - 1) >> bits) != 0) ++bits;
  const Composite ones =
      static_cast<Composite>(position_mask<T, Composite> & ~((uint64_t{1} << bits) - 1));
  for (int left = bits; left > 0;) {
    const int width = std::min(left, digit_bits);
    left -= width;
    pass(left, width, ones);
  }
}

template <class T, class Composite>
void run_radix(const top_k_call<T>& call, void* workspace) {
  const radix_memory<T, Composite> memory(call.k, call.sorted, workspace);
  const bool few = call.k <= detail::top_k_threshold_most_k;
  const std::size_t shared =
      few ? next_power_of_two(static_cast<unsigned>(call.k)) * sizeof(Composite) : 0;
  if (few) allow_shared_memory(emit_few_kernel<T, Composite>, shared);
  for (index_t i = 0; i < call.rows; ++i) {
    launch_radix_passes<T, Composite>(call, i, memory.state);
    if (!call.sorted && !few) {
      const unsigned blocks =
          grid_blocks(call.source.cols, 4096, std::min(1024, 4 * call.multiprocessors));
      count_parts_kernel<T, Composite>
          <<<blocks, radix_threads, 0, call.stream>>>(call.source, i, memory.state, memory.counts);
      GPU_SIMILARITY_CHECK_LAUNCH();
      write_parts_kernel<T, Composite><<<blocks, radix_threads, 0, call.stream>>>(
          call.source, i, memory.state, memory.counts, call.sink);
      GPU_SIMILARITY_CHECK_LAUNCH();
      continue;
    }
    collect_kernel<T, Composite>
        <<<filter_blocks(call.part(0, 1)), filter_threads, 0, call.stream>>>(
            call.source, i, memory.state, memory.chosen);
    GPU_SIMILARITY_CHECK_LAUNCH();
    if (few) {
      emit_few_kernel<T, Composite><<<1, finish_threads, shared, call.stream>>>(
          call.source, i, memory.chosen, static_cast<unsigned>(call.k), call.sink);
    } else {
      sort_composites<Composite>(memory.chosen, memory.ordered, 1, call.k, 0, memory.sort_memory,
                                 memory.sort_bytes, call.stream);
      emit_sorted_kernel<T, Composite><<<grid_blocks(call.k, 1024, 65536), 256, 0, call.stream>>>(
          call.source, i, 1, memory.ordered, call.k, call.k, call.sink);
    }
    GPU_SIMILARITY_CHECK_LAUNCH();
  }
}

}  // namespace gpu::kernels::select
