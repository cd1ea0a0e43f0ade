#pragma once
// `radix_select`: any k, by histograms of the composites' digits, all rows side by side.
//
// Each pass reads the rows and counts, among the composites that share the bits found so far, how
// often each next digit occurs; the last block of a row to finish finds the digit of the k-th
// largest. Three passes settle a 32-bit key. The passes over the digits of the position read a row
// only where equal keys straddle the k-th place; else they return at once. A last read writes the k
// composites in the order of their positions, so that a stable sort of their keys ends the search.
// Shared memory: 8 KiB of histogram.

#include <type_traits>

#include "kernels/top_k/parts.cuh"
#include "kernels/top_k/sort.hpp"

namespace gpu::kernels::select {

inline constexpr int digit_bits = 11;
inline constexpr int digit_values = 1 << digit_bits;

/// What the passes know of a row. All zero at the start.
template <class Composite>
struct radix_state {
  Composite bound;           ///< The bits found so far, zeros behind them.
  unsigned long long above;  ///< Composites known to be larger than all that share them.
  unsigned blocks_done;
  int settled;  ///< Exactly k composites reach the bound.
  unsigned long long bins[digit_values];
};

/// The digits of bits [low, high) of a key, or of a composite where all of its key is known; `ones`
/// are bits above them that every such word has set.
template <class Word>
struct radix_digits {
  int high;
  int low;
  Word ones;
};

/// Adds the block's bins to those of all blocks; true for the block that is last to do so.
template <class Composite>
__device__ inline bool add_bins_and_end(const unsigned* bins, radix_state<Composite>& state) {
  __shared__ bool is_last;
  for (int b = static_cast<int>(threadIdx.x); b < digit_values; b += radix_threads) {
    if (bins[b] != 0) atomicAdd(&state.bins[b], static_cast<unsigned long long>(bins[b]));
  }
  __threadfence();
  __syncthreads();
  if (threadIdx.x == 0) is_last = atomicAdd(&state.blocks_done, 1u) == gridDim.x - 1;
  __syncthreads();
  return is_last;
}

/// The last block: finds the digit of the k-th largest composite from the bins of all blocks, which
/// are its own `bins` where it is the only one, and adds it to the bound with the bits `ones`,
/// `shift` bits from its end. Clears the bins for the next pass.
template <class Composite>
__device__ inline void choose_digit(unsigned long long k, int shift, Composite ones,
                                    const unsigned* bins, radix_state<Composite>& state) {
  __shared__ unsigned long long scratch[33];
  constexpr int per_thread = digit_values / radix_threads;
  const int first = digit_values - 1 - static_cast<int>(threadIdx.x) * per_thread;
  unsigned long long here[per_thread];
  unsigned long long mine = 0;
#pragma unroll
  for (int b = 0; b < per_thread; ++b) {
    here[b] = bins[first - b];
    if (gridDim.x > 1) {
      here[b] = __ldcg(&state.bins[first - b]);
      state.bins[first - b] = 0;
    }
    mine += here[b];
  }
  unsigned long long total;
  unsigned long long before = state.above + block_exclusive_sum(mine, total, scratch);
  if (before < k && before + mine >= k) {
#pragma unroll
    for (int b = 0; b < per_thread; ++b) {
      if (before < k && before + here[b] >= k) {
        state.bound |= ones | (static_cast<Composite>(first - b) << shift);
        state.above = before;
        state.settled = before + here[b] == k ? 1 : 0;
        break;
      }
      before += here[b];
    }
  }
  if (threadIdx.x == 0) state.blocks_done = 0;
}

/// Passes over the rows, one for each digit of Word, a key or a composite. Blocks [any, rows] of
/// radix_threads; more than one block a row for one digit alone. states [rows].
template <class T, class Composite, class Word>
__global__ void __launch_bounds__(radix_threads)
    radix_pass_kernel(top_k_source<T> source, unsigned long long k, radix_digits<Word> digits,
                      radix_state<Composite>* states) {
  constexpr bool of_key = std::is_same_v<Word, key_t<T>>;
  __shared__ unsigned bins[digit_values];
  radix_state<Composite>& state = states[blockIdx.y];
  for (int shift = digits.high; shift > digits.low && state.settled == 0;) {
    const int width = min(shift - digits.low, digit_bits);
    shift -= width;
    for (int b = static_cast<int>(threadIdx.x); b < digit_values; b += radix_threads) bins[b] = 0;
    Word found;
    if constexpr (of_key) {
      found = key_of<T>(state.bound);
    } else {
      found = state.bound | digits.ones;
    }
    const auto mask = static_cast<unsigned>((1u << width) - 1);
    __syncthreads();
    const auto count = [&](index_t position, T value) {
      Word word;
      if constexpr (of_key) {
        word = make_key(value, source.flip);
      } else {
        word = compose<T, Composite>(make_key(value, source.flip), position);
      }
      // Shifted in two steps: the digit may end at the top.
      if ((((word ^ found) >> shift) >> width) == 0) {
        atomicAdd(&bins[static_cast<unsigned>(word >> shift) & mask], 1u);
      }
    };
    visit_row(source.row(blockIdx.y), source.cols,
              static_cast<index_t>(blockIdx.x) * radix_threads + threadIdx.x,
              static_cast<index_t>(gridDim.x) * radix_threads, count);
    __syncthreads();
    if (gridDim.x > 1) {
      if (!add_bins_and_end(bins, state)) return;
      __threadfence();
    }
    if constexpr (of_key) {
      choose_digit(k, shift + position_bits<T, Composite>, Composite{0}, bins, state);
    } else {
      choose_digit(k, shift, digits.ones, bins, state);
    }
    __syncthreads();
  }
}

/// Chooses the k elements that reach the bound of their row.
template <class T, class Composite>
struct bound_choice {
  top_k_source<T> source;
  const radix_state<Composite>* states;
  __device__ auto of_row(index_t i) const {
    return [row = source.row(i), flip = source.flip, bound = states[i].bound](index_t at) {
      return compose<T, Composite>(make_key(row[at], flip), at) >= bound;
    };
  }
};

/// What becomes of them: composites [rows, k] to be sorted, or the answer.
template <class T, class Composite>
struct put_composite {
  top_k_source<T> source;
  Composite* composites;
  index_t k;
  __device__ void operator()(index_t i, index_t rank, index_t at) const {
    composites[i * k + rank] = compose<T, Composite>(make_key(source.row(i)[at], source.flip), at);
  }
  __device__ void end(index_t, index_t) const {}
};
template <class T>
struct put_entry {
  top_k_source<T> source;
  row_sink<T> sink;
  __device__ void operator()(index_t i, index_t rank, index_t at) const {
    sink.put(i, rank, source.row(i), at);
  }
  __device__ void end(index_t, index_t) const {}
};

/// Writes sorted composites [rows, k].
template <class T, class Composite>
__global__ void emit_sorted_kernel(top_k_source<T> source, index_t rows, const Composite* sorted,
                                   index_t k, row_sink<T> sink) {
  const index_t step = static_cast<index_t>(gridDim.x) * blockDim.x;
  for (index_t i = static_cast<index_t>(blockIdx.x) * blockDim.x + threadIdx.x; i < rows * k;
       i += step) {
    const index_t row = i / k;
    sink.put(row, i % k, source.row(row), position_of<T>(sorted[i]));
  }
}

template <class T, class Composite>
struct radix_memory {
  index_t rows_per_pass;
  radix_state<Composite>* states;
  unsigned long long* counts;
  Composite* chosen;
  Composite* spare;
  void* scratch;
  std::size_t scratch_bytes;
  std::size_t bytes;

  radix_memory(index_t rows, index_t k, bool sorted, void* memory) {
    const index_t kept = sorted ? k : 0;
    rows_per_pass = rows_of_pass(rows, static_cast<index_t>(sizeof(*states)) +
                                           2 * kept * static_cast<index_t>(sizeof(*chosen)));
    scratch_bytes = sorted ? sort_words_workspace<Composite>(rows_per_pass, k) : 0;
    cuda::arena pieces(memory);
    states = pieces.take<radix_state<Composite>>(rows_per_pass);
    counts = pieces.take<unsigned long long>(most_row_parts);
    chosen = pieces.take<Composite>(rows_per_pass * kept);
    spare = pieces.take<Composite>(rows_per_pass * kept);
    scratch = pieces.take<std::byte>(scratch_bytes);
    bytes = pieces.bytes();
  }
};

/// Finds the bound that exactly k composites of each row reach.
template <class T, class Composite>
void launch_radix_passes(const top_k_call<T>& call, radix_state<Composite>* states) {
  GPU_SIMILARITY_CUDA_CHECK(cudaMemsetAsync(
      states, 0, static_cast<std::size_t>(call.rows) * sizeof(*states), call.stream));
  if (call.k == call.source.cols) return;  // all reach the bound 0
  const dim3 grid = part_grid(call);
  const auto passes = [&]<class Word>(int bits, Word ones) {
    for (int high = bits; high > 0;) {
      const int low = grid.x == 1 ? 0 : std::max(high - digit_bits, 0);
      radix_pass_kernel<T, Composite, Word><<<grid, radix_threads, 0, call.stream>>>(
          call.source, static_cast<unsigned long long>(call.k), radix_digits<Word>{high, low, ones},
          states);
      GPU_SIMILARITY_CHECK_LAUNCH();
      high = low;
    }
  };
  passes(key_bits<T>, key_t<T>{0});
  // Positions below 2^bits leave ones above those bits of the complement.
  int bits = 1;
  while (bits < 63 && ((call.source.cols - 1) >> bits) != 0) ++bits;
  passes(bits, static_cast<Composite>(position_mask<T, Composite> & ~((uint64_t{1} << bits) - 1)));
}

template <class T, class Composite>
void run_radix(const top_k_call<T>& whole, void* workspace) {
  const radix_memory<T, Composite> memory(whole.rows, whole.k, whole.sorted, workspace);
  for (index_t first = 0; first < whole.rows; first += memory.rows_per_pass) {
    const top_k_call<T> call =
        whole.part(first, std::min(memory.rows_per_pass, whole.rows - first));
    launch_radix_passes<T, Composite>(call, memory.states);
    const bound_choice<T, Composite> choice{call.source, memory.states};
    if (!call.sorted) {
      write_chosen(call, choice, memory.counts, put_entry<T>{call.source, call.sink});
      continue;
    }
    write_chosen(call, choice, memory.counts,
                 put_composite<T, Composite>{call.source, memory.chosen, call.k});
    // Composites stand in the order of their positions: equal keys stay there.
    constexpr bit_range bits{position_bits<T, Composite>,
                             position_bits<T, Composite> + key_bits<T>};
    emit_sorted_kernel<<<grid_blocks(call.rows * call.k, 1024, 65536), 256, 0, call.stream>>>(
        call.source, call.rows,
        sort_words(memory.chosen, memory.spare, call.rows, call.k, bits, memory.scratch,
                   memory.scratch_bytes, call.stream),
        call.k, call.sink);
    GPU_SIMILARITY_CHECK_LAUNCH();
  }
}

}  // namespace gpu::kernels::select
