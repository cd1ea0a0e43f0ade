#pragma once
// Wide windows of the variant `block_sums`: blocks that march along a row, so that every element
// comes from global memory once and enters a sum a fixed number of times, whatever the window.
//
// A block takes a run of tiles of threads * K outputs. The elements of a run are a stream from its
// first window's first element on, kept in a ring of slots of a tile each; one bulk copy fills a
// slot while others are worked on. With g the number of a chunk of K outputs in the run,
//   window of output g K + j = suffix of the chunk [g K, (g + 1) K) from j on
//                            + w % K single elements behind it
//                            + chunk sums g - w / K + 1 to g - 1 of the front
//                            + the first j elements of front chunk g,
// where front chunk c is [w + c K, w + (c + 1) K) of the stream: windows end at front chunks as
// they start at own ones, and the running sum that gives a thread its K prefixes gives the sum of
// the chunk too. An output costs three additions and half of one for the single elements. The
// chunk sums between: fewer than 32 are added one by one; beyond, those of the 32 chunks of a warp
// have exclusive prefixes (registers) and suffixes (shared memory) by shuffles, and whole warps
// between enter by their totals. Nothing is subtracted anywhere.
//
// Shared memory: ring of w / (threads K) + 3 tiles, results of one tile, chunk sums of a window
// and a tile. K is odd, so that threads' chunks start in different banks. A chunk may reach past
// the end of the ring: the first K elements stand there again. The stream starts at a multiple of
// 128 bytes, so outputs in front of the first one are computed and dropped. Global memory: one
// read and one write of the row, and w elements again for every run.

#include <algorithm>

#include "cuda_runtime/device_limits.hpp"
#include "kernels/mean_filter/march_ring.cuh"
#include "kernels/mean_filter/march_sums.cuh"

namespace gpu::kernels {

inline constexpr int march_most_slots = 32;
/// Where streams start, bytes: copies of pieces across sectors of 32 bytes cost a tenth of the
/// bandwidth.
inline constexpr int march_alignment = 128;

/// The parts of shared memory; the same for every tile of a call.
struct march_layout {
  int chunks;  ///< Of the front in every window: w / K.
  int rest;    ///< Single elements in every window: w % K.
  int ahead;   ///< Slots behind a tile's own that its windows and front chunks reach.
  int slots;   ///< Of the ring.
  int kept;    ///< Chunk sums in shared memory.
  unsigned results_at;
  unsigned sums_at;
  unsigned totals_at;
  std::size_t bytes;
};

template <class Sum>
march_layout lay_out_march(int window, int outputs, int threads, std::size_t in_bytes,
                           std::size_t out_bytes) {
  const int tile = outputs * threads;
  march_layout layout{};
  layout.chunks = window / outputs;
  layout.rest = window % outputs;
  layout.ahead = (window + tile - 1) / tile;
  layout.slots = layout.ahead + 2;
  layout.kept = ((layout.chunks - 1 + threads - 1) / threads + 1) * threads;
  const auto padded = [](std::size_t bytes) { return (bytes + 127) / 128 * 128; };
  const auto ring = static_cast<std::size_t>(layout.slots * tile) * in_bytes;
  const std::size_t mirror = padded(static_cast<std::size_t>(outputs) * in_bytes);
  layout.results_at = static_cast<unsigned>(ring + mirror);
  layout.sums_at =
      layout.results_at + static_cast<unsigned>(static_cast<std::size_t>(tile) * out_bytes);
  layout.totals_at = layout.sums_at + static_cast<unsigned>(layout.kept * sizeof(Sum));
  layout.bytes = layout.totals_at + static_cast<std::size_t>(layout.kept) / 32 * sizeof(Sum);
  return layout;
}

/// Tiles of a row, divided among blocks.
struct march_runs {
  index_t tiles_per_row;
  index_t tiles;  ///< Of a run.
  index_t per_row;
};

/// The sums of the front chunks before the first tile's, which its windows hold.
template <int K, int Threads, class Sum, class In>
__device__ void sum_first_chunks(const march_layout& layout, const In* front,
                                 march_sums<Sum, Threads>& sums) {
  for (int c = static_cast<int>(threadIdx.x) - (layout.kept - Threads); c < 0; c += Threads) {
    Sum own;
    if (c > -layout.chunks) own = chunk_sum<Sum, K>(front + c * K);
    static_cast<void>(sums.store(own));
    sums.next_tile();
  }
}

/// The thread's K means of a tile of row `row`, of which `first` is the thread's first output, to
/// results[0, K). `own` and `front`: its chunks. `full`: all windows of the tile are divided by the
/// whole window.
template <int K, int Threads, class Sum, class In, class Out>
__device__ void march_means(const filter_args<In, Out>& args, int rest, const In* own,
                            const In* front, index_t row, index_t first, bool full,
                            march_sums<Sum, Threads>& sums, Out* results) {
  Sum prefix[K];
  Sum running;
#pragma unroll
  for (int j = 0; j < K; ++j) {
    prefix[j] = running;
    running.add(static_cast<double>(front[j]));
  }
  const Sum before = sums.store(running);
  results_taken();
  __syncthreads();
  running = Sum{};
  for (int r = 0; r < rest; ++r) running.add(static_cast<double>(own[K + r]));
  sums.add_between(before, running);
#pragma unroll
  for (int j = K - 1; j >= 0; --j) {
    running.add(static_cast<double>(own[j]));
    Sum sum = running;
    if (j > 0) sum.add(prefix[j]);
    results[j] = full ? args.full_mean(sum, row, first + j) : args.mean(sum, row, first + j);
  }
}

/// What a run of a row covers.
struct march_span {
  index_t first_output;  // in front of the row where its stream starts before it
  int tiles;
};

/// Run `run` of the row at `row`, in tiles of `tile` outputs. The stream starts where pieces of
/// memory do, which may be some outputs in front of the row.
template <class In, class Out>
__device__ march_span locate_run(const filter_args<In, Out>& args, const march_runs& runs,
                                 const In* row, index_t run, int tile) {
  const index_t first_tile = run * runs.tiles;
  const index_t left = runs.tiles_per_row - first_tile;
  const auto shift = static_cast<index_t>(
      (reinterpret_cast<std::uintptr_t>(row - args.shape.left) % march_alignment) / sizeof(In));
  return {first_tile * tile - shift, static_cast<int>(runs.tiles < left ? runs.tiles : left)};
}

/// For windows of K and more.
template <class Sum, int K, int Threads, class In, class Out>
__global__ void __launch_bounds__(Threads)
    march_kernel(const __grid_constant__ filter_args<In, Out> args,
                 const __grid_constant__ march_layout layout,
                 const __grid_constant__ march_runs runs) {
  extern __shared__ __align__(128) unsigned char march_memory[];
  __shared__ copy_barrier barriers[march_most_slots];
  constexpr int tile = K * Threads;
  const int thread = static_cast<int>(threadIdx.x);
  const auto window = static_cast<int>(args.shape.window);
  const int ring_size = layout.slots * tile;
  march_ring<K, Threads, In> ring{reinterpret_cast<In*>(march_memory), barriers, layout.slots};
  Out* results = reinterpret_cast<Out*>(march_memory + layout.results_at);
  init_barriers(barriers, layout.slots);
  for (index_t item = blockIdx.x; item < args.shape.rows * runs.per_row; item += gridDim.x) {
    const auto [row_number, run] = split_index(item, runs.per_row);
    const In* row = args.in_row(row_number);
    const auto [first_output, tiles] = locate_run(args, runs, row, run, tile);
    const index_t place = first_output - args.shape.left;
    const int wanted = tiles + layout.ahead;
    const auto load = [&](int s) {
      if (s < wanted) ring.load(args, row, place + static_cast<index_t>(s) * tile, s);
    };
    for (int s = 0; s < layout.slots; ++s) load(s);
    __syncthreads();
    march_sums<Sum, Threads> sums{reinterpret_cast<Sum*>(march_memory + layout.sums_at),
                                  reinterpret_cast<Sum*>(march_memory + layout.totals_at),
                                  layout.kept, layout.chunks - 1};
    for (int s = 0; s < layout.ahead; ++s) ring.await(s);
    sum_first_chunks<K>(layout, ring.elements + window, sums);
    int front_at = window % ring_size;
    int own_at = 0;
    for (int n = 0; n < tiles; ++n) {
      ring.await(n + layout.ahead);
      const index_t first = first_output + static_cast<index_t>(n) * tile;
      const bool full = args.template full_windows<Sum>(first, first + tile);
      int at = front_at + thread * K;
      if (at >= ring_size) at -= ring_size;
      march_means<K>(args, layout.rest, ring.elements + own_at + thread * K, ring.elements + at,
                     row_number, first + thread * K, full, sums, results + thread * K);
#if __CUDA_ARCH__ >= 900
      async_proxy_fence();
#endif
      __syncthreads();
      const index_t left = args.shape.output_cols - first;
      write_outputs<tile>(args.out_row(row_number) + first, results,
                          first < 0 ? static_cast<int>(-first) : 0,
                          left < tile ? static_cast<int>(left) : tile);
      load(n + layout.slots);
      sums.next_tile();
      front_at += tile;
      if (front_at >= ring_size) front_at -= ring_size;
      own_at += tile;
      if (own_at == ring_size) own_at = 0;
    }
  }
  results_taken();
}

/// The layout for a window, where a block may have that much shared memory; else no bytes.
template <class Sum, int K, int Threads, class In, class Out>
march_layout march_layout_that_fits(index_t window) {
  if (window < K) return {};
  const march_layout layout =
      lay_out_march<Sum>(static_cast<int>(window), K, Threads, sizeof(In), sizeof(Out));
  const bool fits = layout.slots <= march_most_slots &&
                    layout.bytes <= cuda::current_limits().block_shared_bytes - 1024;
  return fits ? layout : march_layout{};
}

template <class Sum, int K, int Threads, class In, class Out>
void launch_march(const filter_args<In, Out>& args, const march_layout& layout,
                  cudaStream_t stream) {
  static_assert(K * Threads * sizeof(In) % 16 == 0 && Threads % 32 == 0);
  auto* kernel = &march_kernel<Sum, K, Threads, In, Out>;
  allow_shared_memory(kernel, layout.bytes);
  const index_t resident = resident_blocks(kernel, Threads, layout.bytes);
  const index_t most_shift = march_alignment / static_cast<index_t>(sizeof(In)) - 1;
  march_runs runs{};
  runs.tiles_per_row = ceil_div(args.shape.output_cols + most_shift, K * Threads);
  runs.tiles = ceil_div(runs.tiles_per_row, std::max<index_t>(1, resident / args.shape.rows));
  runs.per_row = ceil_div(runs.tiles_per_row, runs.tiles);
  kernel<<<grid_blocks(args.shape.rows * runs.per_row, 1, resident), Threads, layout.bytes,
           stream>>>(args, layout, runs);
  GPU_SIMILARITY_CHECK_LAUNCH();
}

template <class Sum, int K, int Threads, class In, class Out>
bool launch_march_that_fits(const filter_args<In, Out>& args, cudaStream_t stream) {
  const march_layout layout = march_layout_that_fits<Sum, K, Threads, In, Out>(args.shape.window);
  if (layout.bytes == 0) return false;
  launch_march<Sum, K, Threads>(args, layout, stream);
  return true;
}

/// Marches where that is faster and the ring fits the device; returns false where not.
template <class Sum, class In, class Out>
bool launch_marching_block_sums(const filter_args<In, Out>& args, cudaStream_t stream) {
  using policy = block_sums_policy<sizeof(In)>;
  constexpr block_sums_tile tile = policy::march;
  constexpr block_sums_tile wide = policy::march_wide;
  if (args.shape.window < wide_from) return false;
  if (args.shape.window > tile.outputs * tile.threads &&
      args.shape.window <= wide.outputs * wide.threads &&
      launch_march_that_fits<Sum, wide.outputs, wide.threads>(args, stream)) {
    return true;
  }
  return launch_march_that_fits<Sum, tile.outputs, tile.threads>(args, stream);
}

}  // namespace gpu::kernels
