#pragma once
// Rung `block_sums`: sums of blocks shared by all windows over them, so the cost per output does
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
// in order. Global memory: each element is read (1 + (window - 1) / (threads * K)) times, but for
// the first time from the second-level cache, since neighbouring tiles run side by side.

#include "mean_filter/mean_filter_policy.hpp"
#include "mean_filter/stage_tile.cuh"

namespace gpu::kernels {

/// Chunks, and where things stand in shared memory.
struct block_sums_layout {
  int whole_chunks;  ///< In every base.
  int rest;          ///< Single elements in every base.
  int chunks;        ///< Whose sums the block needs: a multiple of 32, 0 without whole chunks.
  std::size_t sums_at;
  std::size_t bytes;
};

template <class Sum>
constexpr block_sums_layout lay_out_block_sums(int window, int outputs, int threads,
                                               std::size_t in_bytes, std::size_t out_bytes) {
  block_sums_layout layout{};
  layout.whole_chunks = (window - outputs) / outputs;
  layout.rest = (window - outputs) % outputs;
  layout.chunks = layout.whole_chunks == 0 ? 0 : (threads + layout.whole_chunks + 31) / 32 * 32;
  const int staged = threads * outputs + window - 1;
  // Whole chunks may reach past the staged elements by less than a chunk per lane of a warp.
  const int read = layout.chunks * outputs > staged ? layout.chunks * outputs : staged;
  const std::size_t in_room = static_cast<std::size_t>(read) * in_bytes + stage_slack;
  const std::size_t out_room = static_cast<std::size_t>(threads * outputs) * out_bytes;
  layout.sums_at = ((in_room > out_room ? in_room : out_room) + 15) / 16 * 16;
  layout.bytes = layout.sums_at + static_cast<std::size_t>(layout.chunks) * sizeof(Sum) * 33 / 32 +
                 sizeof(Sum);
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
template <class Sum, int K, int Threads, class In>
__device__ Sum base_of_chunks(const In* tile, const Sum& own, const block_sums_layout& layout,
                              Sum* prefixes) {
  const int thread = static_cast<int>(threadIdx.x);
  Sum base;
  if (layout.whole_chunks < 32) {
    prefixes[thread] = own;
    for (int c = thread + Threads; c < layout.chunks; c += Threads) {
      prefixes[c] = chunk_sum<Sum, K>(tile + c * K);
    }
    __syncthreads();
    for (int c = 1; c <= layout.whole_chunks; ++c) base.add(prefixes[thread + c]);
    return base;
  }
  Sum* totals = prefixes + layout.chunks;
  for (int c = thread; c < layout.chunks; c += Threads) {
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

template <class Sum, int K, int Threads, class In, class Out>
__global__ void __launch_bounds__(Threads)
    block_sums_kernel(const __grid_constant__ filter_args<In, Out> args,
                      const __grid_constant__ block_sums_layout layout, index_t tiles_per_row) {
  extern __shared__ __align__(16) unsigned char shared_bytes[];
  __shared__ copy_barrier barrier;
  unsigned phase = 0;
  init_barrier(barrier);
  constexpr int tile_outputs = Threads * K;
  const int window = static_cast<int>(args.shape.window);
  const int thread = static_cast<int>(threadIdx.x);
  for (index_t t = blockIdx.x; t < args.shape.rows * tiles_per_row; t += gridDim.x) {
    const auto [row, tile_index] = split_index(t, tiles_per_row);
    const index_t first = tile_index * tile_outputs;
    const In* tile = stage_tile(args, args.in_row(row), first - args.shape.left,
                                tile_outputs + window - 1, shared_bytes, barrier, phase);
    const In* own = tile + thread * K;
    Sum suffix[K];
    Sum running;
#pragma unroll
    for (int j = K - 1; j >= 0; --j) {
      running.add(static_cast<double>(own[j]));
      suffix[j] = running;
    }
    Sum prefix;
    if (layout.whole_chunks > 0) {
      prefix = base_of_chunks<Sum, K, Threads>(
          tile, running, layout, reinterpret_cast<Sum*>(shared_bytes + layout.sums_at));
    }
    const In* next = own + (1 + layout.whole_chunks) * K;
    for (int r = 0; r < layout.rest; ++r) prefix.add(static_cast<double>(next[r]));
    next += layout.rest;
    Out means[K];
#pragma unroll
    for (int j = 0; j < K; ++j) {
      if (j > 0) prefix.add(static_cast<double>(next[j - 1]));
      suffix[j].add(prefix);
      means[j] = args.mean(suffix[j], first + thread * K + j);
    }
    __syncthreads();
    Out* results = reinterpret_cast<Out*>(shared_bytes);
#pragma unroll
    for (int j = 0; j < K; ++j) results[thread * K + j] = means[j];
    __syncthreads();
    const index_t left = args.shape.output_cols - first;
    const int valid = left < tile_outputs ? static_cast<int>(left) : tile_outputs;
    Out* out = args.out_row(row) + first;
    for (int i = thread; i < valid; i += Threads) out[i] = results[i];
    fence_tile();
  }
}

template <class Sum, int K, int Threads, class In, class Out>
void launch_block_sums_of(const filter_args<In, Out>& args, cudaStream_t stream) {
  const auto layout = lay_out_block_sums<Sum>(static_cast<int>(args.shape.window), K, Threads,
                                              sizeof(In), sizeof(Out));
  const index_t tiles_per_row = ceil_div(args.shape.output_cols, Threads * K);
  auto* kernel = &block_sums_kernel<Sum, K, Threads, In, Out>;
  if (layout.bytes > 48 * 1024) allow_shared_memory(kernel, layout.bytes);
  kernel<<<grid_blocks(args.shape.rows * tiles_per_row, 1), Threads, layout.bytes, stream>>>(
      args, layout, tiles_per_row);
  GPU_SIMILARITY_CHECK_LAUNCH();
}

/// Windows of 1 to max_block_sums_window.
template <class Sum, class In, class Out>
void launch_block_sums(const filter_args<In, Out>& args, cudaStream_t stream) {
  using policy = block_sums_policy<sizeof(In)>;
  if (args.shape.window >= policy::outputs) {
    launch_block_sums_of<Sum, policy::outputs, policy::threads>(args, stream);
  } else if (args.shape.window >= policy::short_outputs) {
    launch_block_sums_of<Sum, policy::short_outputs, policy::threads>(args, stream);
  } else {
    launch_block_sums_of<Sum, 1, policy::threads>(args, stream);
  }
}

}  // namespace gpu::kernels
