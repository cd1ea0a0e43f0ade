#pragma once
// `sort` for distinct values, any k: the keys alone are sorted, the first k runs of equal ones are
// the answer with their counts, and one more read of the rows finds where each occurs first.

#include "kernels/top_k/parts.cuh"
#include "kernels/top_k/sort.hpp"

namespace gpu::kernels::select {

/// Keys up to this many are held in shared memory while their first places are looked for.
inline constexpr index_t most_held_keys = 2048;

/// keys [rows, cols] of all elements.
template <class T>
__global__ void keys_kernel(top_k_source<T> source, index_t rows, key_t<T>* keys) {
  const index_t step = static_cast<index_t>(gridDim.x) * blockDim.x;
  for (index_t i = static_cast<index_t>(blockIdx.x) * blockDim.x + threadIdx.x;
       i < rows * source.cols; i += step) {
    keys[i] = make_key(source.row(i / source.cols)[i % source.cols], source.flip);
  }
}

/// Chooses the first of each run of equal keys in sorted [rows, cols].
template <class Key>
struct run_choice {
  const Key* sorted;
  index_t cols;
  __device__ auto of_row(index_t i) const {
    return [keys = sorted + i * cols](index_t at) { return at == 0 || keys[at] != keys[at - 1]; };
  }
};

/// The first k runs of each row as its best distinct keys, best [rows, k], with their counts.
template <class Key>
struct put_run {
  run_choice<Key> runs;
  Key* best;
  index_t k;
  index_t* indices;  // a place behind the row's, until the first one is known
  index_t indices_stride;
  index_t* counts;
  index_t counts_stride;
  index_t* found;
  __device__ void operator()(index_t row, index_t rank, index_t at) const {
    if (rank >= k) return;
    const Key* const keys = runs.sorted + row * runs.cols;
    index_t last = at;  // of the run
    index_t behind = runs.cols;
    while (behind - last > 1) {
      const index_t middle = last + (behind - last) / 2;
      (keys[middle] == keys[at] ? last : behind) = middle;
    }
    best[row * k + rank] = keys[at];
    indices[row * indices_stride + rank] = runs.cols;
    counts[row * counts_stride + rank] = behind - at;
  }
  __device__ void end(index_t row, index_t all) const { found[row] = all < k ? all : k; }
};

/// indices [rows, k] = least positions of the best keys of each row. Blocks [any, rows] of
/// radix_threads. Dynamic shared memory: k keys and positions, up to most_held_keys.
template <class T>
__global__ void __launch_bounds__(radix_threads)
    first_places_kernel(top_k_source<T> source, const key_t<T>* best, index_t k,
                        const index_t* found, index_t* indices, index_t indices_stride) {
  using place = unsigned long long;
  extern __shared__ __align__(16) unsigned char dynamic_memory[];
  const index_t row_number = blockIdx.y;
  const index_t last = found[row_number] - 1;
  const key_t<T>* keys = best + row_number * k;
  auto* const all = reinterpret_cast<place*>(indices + row_number * indices_stride);
  place* places = all;
  const bool held = k <= most_held_keys;
  if (held) {
    places = reinterpret_cast<place*>(dynamic_memory);
    auto* const copy = reinterpret_cast<key_t<T>*>(places + k);
    for (index_t i = threadIdx.x; i <= last; i += radix_threads) {
      places[i] = ~place{0};
      copy[i] = keys[i];
    }
    keys = copy;
    __syncthreads();
  }
  const key_t<T> least = keys[last];
  const auto visit = [&](index_t at, T value) {
    const key_t<T> key = make_key(value, source.flip);
    if (key < least) return;
    index_t low = 0;
    index_t high = last;
    while (low < high) {
      const index_t middle = (low + high) / 2;
      if (keys[middle] > key) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    const auto mine = static_cast<place>(at);
    if (*static_cast<volatile place*>(places + low) > mine) atomicMin(places + low, mine);
  };
  visit_row(source.row(row_number), source.cols,
            static_cast<index_t>(blockIdx.x) * radix_threads + threadIdx.x,
            static_cast<index_t>(gridDim.x) * radix_threads, visit);
  if (!held) return;
  __syncthreads();
  for (index_t i = threadIdx.x; i <= last; i += radix_threads) {
    if (places[i] != ~place{0}) atomicMin(all + i, places[i]);
  }
}

/// Values of the entries, and what stands behind them.
template <class T>
__global__ void distinct_values_kernel(top_k_source<T> source, index_t rows, index_t k,
                                       row_sink<T> sink, index_t* counts, index_t counts_stride,
                                       const index_t* found) {
  const index_t step = static_cast<index_t>(gridDim.x) * blockDim.x;
  for (index_t i = static_cast<index_t>(blockIdx.x) * blockDim.x + threadIdx.x; i < rows * k;
       i += step) {
    const index_t row = i / k;
    const index_t rank = i % k;
    if (rank < found[row]) {
      sink.put(row, rank, source.row(row), sink.indices[row * sink.indices_stride + rank]);
    } else {
      sink.put_nothing(row, rank);
      counts[row * counts_stride + rank] = 0;
    }
  }
}

template <class T>
struct distinct_sort_memory {
  index_t rows_per_pass;
  key_t<T>* keys;
  key_t<T>* spare;
  key_t<T>* best;
  unsigned long long* counts;
  void* scratch;
  std::size_t scratch_bytes;
  std::size_t bytes;

  distinct_sort_memory(index_t rows, index_t cols, index_t k, void* memory) {
    rows_per_pass = rows_of_pass(rows, (2 * cols + k) * static_cast<index_t>(sizeof(key_t<T>)));
    scratch_bytes = sort_words_workspace<key_t<T>>(rows_per_pass, cols);
    cuda::arena pieces(memory);
    keys = pieces.take<key_t<T>>(rows_per_pass * cols);
    spare = pieces.take<key_t<T>>(rows_per_pass * cols);
    best = pieces.take<key_t<T>>(rows_per_pass * k);
    counts = pieces.take<unsigned long long>(most_row_parts);
    scratch = pieces.take<std::byte>(scratch_bytes);
    bytes = pieces.bytes();
  }
};

template <class T>
void run_distinct_sort(const top_k_call<T>& whole, void* workspace) {
  const index_t cols = whole.source.cols;
  const index_t k = whole.k;
  const distinct_sort_memory<T> memory(whole.rows, cols, k, workspace);
  for (index_t first = 0; first < whole.rows; first += memory.rows_per_pass) {
    const top_k_call<T> call =
        whole.part(first, std::min(memory.rows_per_pass, whole.rows - first));
    keys_kernel<<<grid_blocks(call.rows * cols, 1024, 65536), 256, 0, call.stream>>>(
        call.source, call.rows, memory.keys);
    GPU_SIMILARITY_CHECK_LAUNCH();
    const run_choice<key_t<T>> runs{
        sort_words(memory.keys, memory.spare, call.rows, cols, {0, key_bits<T>}, memory.scratch,
                   memory.scratch_bytes, call.stream),
        cols};
    write_chosen(
        call, runs, memory.counts,
        put_run<key_t<T>>{runs, memory.best, k, call.sink.indices, call.sink.indices_stride,
                          call.counts, call.counts_stride, call.found});
    const std::size_t shared =
        k <= most_held_keys
            ? static_cast<std::size_t>(k) * (sizeof(unsigned long long) + sizeof(key_t<T>))
            : 0;
    first_places_kernel<<<part_grid(call), radix_threads, shared, call.stream>>>(
        call.source, memory.best, k, call.found, call.sink.indices, call.sink.indices_stride);
    GPU_SIMILARITY_CHECK_LAUNCH();
    distinct_values_kernel<<<grid_blocks(call.rows * k, 1024, 65536), 256, 0, call.stream>>>(
        call.source, call.rows, k, call.sink, call.counts, call.counts_stride, call.found);
    GPU_SIMILARITY_CHECK_LAUNCH();
  }
}

}  // namespace gpu::kernels::select
