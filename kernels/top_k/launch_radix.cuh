#pragma once
// The launches of `radix_select` and `sort`, which take any k.

#include <algorithm>

#include "kernels/top_k/call.cuh"
#include "kernels/top_k/distinct_finish.cuh"
#include "kernels/top_k/radix.cuh"
#include "kernels/top_k/sort.hpp"

namespace gpu::kernels::select {

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

template <class T, class Composite>
struct sort_memory {
  index_t rows_per_pass;
  Composite* composed;
  Composite* ordered;
  void* scratch;
  std::size_t scratch_bytes;
  std::size_t bytes;

  sort_memory(index_t rows, index_t cols, void* memory) {
    rows_per_pass = rows_of_pass(rows, 2 * cols * static_cast<index_t>(sizeof(Composite)));
    scratch_bytes = sort_composites_workspace<Composite>(rows_per_pass, cols);
    cuda::arena pieces(memory);
    composed = pieces.take<Composite>(rows_per_pass * cols);
    ordered = pieces.take<Composite>(rows_per_pass * cols);
    scratch = pieces.take<std::byte>(scratch_bytes);
    bytes = pieces.bytes();
  }
};

template <class T, class Composite, bool Distinct>
void run_sort(const top_k_call<T>& whole, void* workspace) {
  const index_t cols = whole.source.cols;
  const sort_memory<T, Composite> memory(whole.rows, cols, workspace);
  for (index_t first = 0; first < whole.rows; first += memory.rows_per_pass) {
    const top_k_call<T> call =
        whole.part(first, std::min(memory.rows_per_pass, whole.rows - first));
    compose_kernel<T, Composite>
        <<<grid_blocks(call.rows * cols, 1024, 65536), 256, 0, call.stream>>>(
            call.source, 0, call.rows, memory.composed);
    GPU_SIMILARITY_CHECK_LAUNCH();
    sort_composites<Composite>(memory.composed, memory.ordered, call.rows, cols,
                               position_bits<T, Composite>, memory.scratch, memory.scratch_bytes,
                               call.stream);
    if constexpr (Distinct) {
      distinct_of_sorted_kernel<T, Composite>
          <<<static_cast<unsigned>(call.rows), finish_threads, 0, call.stream>>>(
              call.source, 0, memory.ordered, call.k, call.sink, call.counts, call.counts_stride,
              call.found);
    } else {
      emit_sorted_kernel<T, Composite>
          <<<grid_blocks(call.rows * call.k, 1024, 65536), 256, 0, call.stream>>>(
              call.source, 0, call.rows, memory.ordered, cols, call.k, call.sink);
    }
    GPU_SIMILARITY_CHECK_LAUNCH();
  }
}

}  // namespace gpu::kernels::select
