#pragma once
// Variant `block_sums`: sums of blocks shared by all windows over them, so the cost per output does
// not grow with the window.
//
// A block computes threads * K outputs of one row. It stages their elements with the halo of
// window - 1 more in shared memory by one bulk copy. Thread t owns the chunk of elements
// [t K, (t + 1) K) and the outputs that start there. As van Herk and Gil-Werman do for minima,
//   window of output t K + j = suffix of the own chunk from j on
//                            + base: what all K windows share beyond the chunk
//                            + prefix: the elements from the first window's end on, growing with j
// so every output costs three additions (suffix, prefix, joining), and the base is shared by K.
// The base is whole chunks and fewer than K single elements. Whole chunks are summed again the
// same way: the 32 chunks of a warp have prefix and suffix sums by shuffles, and the warps between
// enter by their totals. Nothing is subtracted anywhere: what is outside a window never enters it.
//
// Shared memory: elements (threads * K + window - 1), prefix sums of chunks; K is odd, so that
// threads' chunks start in different banks. Results go back through shared memory to be written
// by one bulk copy. Where two buffers fit, blocks stay and fetch their next tile while they work
// on this one. Windows shorter than a chunk (Short > 0: exactly that window) need no base: each
// thread sums them in registers, every element read and converted once. Global memory: each element
// is read (1 + (window - 1) / (threads * K)) times, but for the first time from the second-level
// cache, since neighbouring tiles run side by side.

#include "cuda_runtime/device_limits.hpp"
#include "kernels/mean_filter/policy.hpp"
#include "kernels/mean_filter/stage_tile.cuh"

namespace gpu::kernels {

/// Chunks, and where things stand in shared memory.
struct block_sums_layout {
  int whole_chunks;  ///< In every base.
  int rest;          ///< Single elements in every base.
  int chunks;        ///< Whose sums the block needs: a multiple of 32, 0 without whole chunks.
  int buffers;       ///< Tiles in flight: 1 or 2.
  std::size_t buffer_bytes;
  std::size_t bytes;
};

template <class Sum>
constexpr block_sums_layout lay_out_block_sums(int window, int outputs, std::size_t in_bytes,
                                               std::size_t out_bytes) {
  constexpr int threads = chunk_threads;
  block_sums_layout layout{};
  layout.whole_chunks = (window - outputs) / outputs;
  layout.rest = (window - outputs) % outputs;
  layout.chunks = layout.whole_chunks == 0 ? 0 : (threads + layout.whole_chunks + 31) / 32 * 32;
  const int staged = threads * outputs + window - 1;
  // Whole chunks may reach past the staged elements by less than a chunk per lane of a warp.
  const int read = layout.chunks * outputs > staged ? layout.chunks * outputs : staged;
  const std::size_t in_room = static_cast<std::size_t>(read) * in_bytes + stage_slack;
  const std::size_t out_room = static_cast<std::size_t>(threads * outputs) * out_bytes;
  layout.buffer_bytes = ((in_room > out_room ? in_room : out_room) + 127) / 128 * 128;
  const std::size_t sums =
      layout.chunks == 0 ? 0 : static_cast<std::size_t>(layout.chunks / 32 * 33) * sizeof(Sum);
  layout.buffers = 2 * layout.buffer_bytes + sums <= two_buffer_bytes ? 2 : 1;
  layout.bytes = static_cast<std::size_t>(layout.buffers) * layout.buffer_bytes + sums;
  return layout;
}

/// Inclusive prefix sums over a warp.
template <class Sum>
__device__ Sum warp_prefix(Sum own) {
  const unsigned lane = threadIdx.x % 32;
#pragma unroll
  for (unsigned step = 1; step < 32; step *= 2) {
    Sum before = shuffled_up(own, step);
    if (lane >= step) {
      before.add(own);
      own = before;
    }
  }
  return own;
}

/// Suffix sums over a warp, each without its own lane's.
template <class Sum>
__device__ Sum warp_suffix_after(Sum own) {
  const unsigned lane = threadIdx.x % 32;
#pragma unroll
  for (unsigned step = 1; step < 32; step *= 2) {
    const Sum after = shuffled_down(own, step);
    if (lane + step < 32) own.add(after);
  }
  const Sum after = shuffled_down(own, 1);
  return lane == 31 ? Sum{} : after;
}

template <class Sum, int K, class In>
__device__ Sum chunk_sum(const In* chunk) {
  Sum sum;
#pragma unroll
  for (int k = 0; k < K; ++k) sum.add(static_cast<double>(chunk[k]));
  return sum;
}

/// The sum of the chunks after the thread's own that all its windows hold. `own` is the sum of
/// its own chunk. All threads call it; `prefixes` is room for the chunks, and one for each 32.
template <class Sum, int K, class In>
__device__ Sum base_of_chunks(const In* tile, const Sum& own, const block_sums_layout& layout,
                              Sum* prefixes) {
  const int thread = static_cast<int>(threadIdx.x);
  Sum base;
  if (layout.whole_chunks < 32) {
    prefixes[thread] = own;
    for (int c = thread + chunk_threads; c < layout.chunks; c += chunk_threads) {
      prefixes[c] = chunk_sum<Sum, K>(tile + c * K);
    }
    __syncthreads();
    for (int c = 1; c <= layout.whole_chunks; ++c) base.add(prefixes[thread + c]);
    return base;
  }
  Sum* totals = prefixes + layout.chunks;
  for (int c = thread; c < layout.chunks; c += chunk_threads) {
    const Sum prefix = warp_prefix(c == thread ? own : chunk_sum<Sum, K>(tile + c * K));
    prefixes[c] = prefix;
    if (c % 32 == 31) totals[c / 32] = prefix;
  }
  base = warp_suffix_after(own);
  __syncthreads();
  const int last = thread + layout.whole_chunks;
  for (int group = thread / 32 + 1; group < last / 32; ++group) base.add(totals[group]);
  base.add(prefixes[last]);
  return base;
}

/// The K means of the thread from a tile, where the window is at least K.
template <class Sum, int K, class In, class Mean>
__device__ void long_windows(const In* tile, const block_sums_layout& layout, Sum* sums,
                             const Mean& mean) {
  const In* own = tile + static_cast<int>(threadIdx.x) * K;
  Sum suffix[K];
  Sum running;
#pragma unroll
  for (int j = K - 1; j >= 0; --j) {
    running.add(static_cast<double>(own[j]));
    suffix[j] = running;
  }
  Sum prefix;
  if (layout.whole_chunks > 0) {
    prefix = base_of_chunks<Sum, K>(tile, running, layout, sums);
  }
  const In* next = own + (1 + layout.whole_chunks) * K;
  for (int r = 0; r < layout.rest; ++r) prefix.add(static_cast<double>(next[r]));
  next += layout.rest;
#pragma unroll
  for (int j = 0; j < K; ++j) {
    if (j > 0) prefix.add(static_cast<double>(next[j - 1]));
    suffix[j].add(prefix);
    mean(j, suffix[j]);
  }
}

/// The same for windows of exactly Short elements, Short <= K, which may be weighted.
template <class Sum, int K, int Short, class In, class Weights, class Mean>
__device__ void short_windows(const In* tile, const Weights& weights, const Mean& mean) {
  const In* own = tile + static_cast<int>(threadIdx.x) * K;
  double held[Short];
#pragma unroll
  for (int k = 0; k < Short - 1; ++k) held[k] = static_cast<double>(own[k]);
#pragma unroll
  for (int j = 0; j < K; ++j) {
    held[(j + Short - 1) % Short] = static_cast<double>(own[j + Short - 1]);
    Sum sum;
#pragma unroll
    for (int k = 0; k < Short; ++k) add_weighted(sum, weights, k, held[(j + k) % Short]);
    mean(j, sum);
  }
}

/// Writes the means from output `first` of a row on, from their staged elements. The results stand
/// where these were. `Short`: the window where that is at most K, else 0.
template <class Sum, int K, int Short, class In, class Out, class Weights>
__device__ void write_tile_means(const filter_args<In, Out>& args, const Weights& weights,
                                 const block_sums_layout& layout, const In* tile, Sum* sums,
                                 index_t row, index_t first, unsigned char* buffer) {
  constexpr int tile_outputs = chunk_threads * K;
  const bool full = args.template full_windows<Sum>(first, first + tile_outputs);
  Out means[K];
  const auto keep = [&](int j, const Sum& sum) {
    const index_t output = first + static_cast<int>(threadIdx.x) * K + j;
    means[j] = full ? args.full_mean(sum, row, output) : args.mean(sum, row, output);
  };
  if constexpr (Short > 0) {
    short_windows<Sum, K, Short>(tile, weights, keep);
  } else {
    long_windows<Sum, K>(tile, layout, sums, keep);
  }
  __syncthreads();
  Out* results = reinterpret_cast<Out*>(buffer);
#pragma unroll
  for (int j = 0; j < K; ++j) results[static_cast<int>(threadIdx.x) * K + j] = means[j];
  const index_t left = args.shape.output_cols - first;
  const int valid = left < tile_outputs ? static_cast<int>(left) : tile_outputs;
  write_tile(args.out_row(row) + first, results, valid, tile_outputs);
  results_read();
}

template <class Sum, int K, int Short, class In, class Out, class Weights>
__global__ void __launch_bounds__(chunk_threads)
    block_sums_kernel(const __grid_constant__ filter_args<In, Out> args,
                      const __grid_constant__ Weights weights,
                      const __grid_constant__ block_sums_layout layout, index_t tiles_per_row) {
  extern __shared__ __align__(16) unsigned char shared_bytes[];
  __shared__ copy_barrier barriers[2];
  constexpr int tile_outputs = chunk_threads * K;
  const int staged = tile_outputs + static_cast<int>(args.shape.window) - 1;
  const index_t tiles = args.shape.rows * tiles_per_row;
  init_barriers(barriers, 2);
  unsigned phases[2] = {0, 0};
  const In* tile[2] = {};
  bool bulk[2] = {};
  const auto begin = [&](index_t t, int buffer) {
    const auto [row, index] = split_index(t, tiles_per_row);
    tile[buffer] =
        begin_tile(args, args.in_row(row), index * tile_outputs - args.shape.left, staged,
                   shared_bytes + buffer * layout.buffer_bytes, barriers[buffer], bulk[buffer]);
  };
  Sum* sums = reinterpret_cast<Sum*>(shared_bytes + layout.buffers * layout.buffer_bytes);
  index_t t = blockIdx.x;
  if (t < tiles) begin(t, 0);
  for (int buffer = 0; t < tiles; t += gridDim.x) {
    const bool two = layout.buffers == 2;
    if (two && t + gridDim.x < tiles) {
      if (buffer == 0) {
        begin(t + gridDim.x, 1);
      } else {
        begin(t + gridDim.x, 0);
      }
    }
    const In* here = buffer == 0 ? tile[0] : tile[1];
    if (buffer == 0) {
      await_tile(barriers[0], bulk[0], phases[0]);
    } else {
      await_tile(barriers[1], bulk[1], phases[1]);
    }
    const auto [row, index] = split_index(t, tiles_per_row);
    write_tile_means<Sum, K, Short>(args, weights, layout, here, sums, row, index * tile_outputs,
                                    shared_bytes + buffer * layout.buffer_bytes);
    if (two) {
      buffer ^= 1;
    } else if (t + gridDim.x < tiles) {
      begin(t + gridDim.x, 0);
    }
  }
}

template <class Sum, int K, int Short, class In, class Out, class Weights>
void launch_block_sums_of(const filter_args<In, Out>& args, const Weights& weights,
                          cudaStream_t stream) {
  auto layout =
      lay_out_block_sums<Sum>(static_cast<int>(args.shape.window), K, sizeof(In), sizeof(Out));
  if (Short > 0) layout.whole_chunks = layout.rest = 0;
  const index_t tiles_per_row = ceil_div(args.shape.output_cols, chunk_threads * K);
  const index_t tiles = args.shape.rows * tiles_per_row;
  auto* kernel = &block_sums_kernel<Sum, K, Short, In, Out, Weights>;
  allow_shared_memory(kernel, layout.bytes);
  const index_t most =
      layout.buffers == 2
          ? static_cast<index_t>(cuda::current_limits().multiprocessors) *
                cuda::resident_blocks_per_multiprocessor(reinterpret_cast<const void*>(kernel),
                                                         chunk_threads, layout.bytes)
          : 0x7fffffff;
  kernel<<<grid_blocks(tiles, 1, most), chunk_threads, layout.bytes, stream>>>(
      args, weights, layout, tiles_per_row);
  GPU_SIMILARITY_CHECK_LAUNCH();
}

/// Windows of 1 to Most elements, Most <= 9, which may be weighted.
template <class Sum, int Most, class In, class Out, class Weights>
void launch_short_windows(const filter_args<In, Out>& args, const Weights& weights,
                          cudaStream_t stream) {
  if constexpr (Most > 1) {
    if (args.shape.window < Most) {
      return launch_short_windows<Sum, Most - 1>(args, weights, stream);
    }
  }
  launch_block_sums_of<Sum, chunk_outputs<sizeof(In)>, Most>(args, weights, stream);
}

/// Windows of 1 to max_block_sums_window.
template <class Sum, class In, class Out>
void launch_block_sums(const filter_args<In, Out>& args, cudaStream_t stream) {
  constexpr int outputs = chunk_outputs<sizeof(In)>;
  if (args.shape.window < 9) {
    launch_short_windows<Sum, 8>(args, no_weights{}, stream);
  } else if (args.shape.window < outputs) {
    launch_block_sums_of<Sum, 9, 0>(args, no_weights{}, stream);
  } else {
    launch_block_sums_of<Sum, outputs, 0>(args, no_weights{}, stream);
  }
}

}  // namespace gpu::kernels
