#pragma once
// Wide windows of the rung `block_sums`: blocks that march along a row, so that every element
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
// 128 bytes, so outputs in front of the first one are computed and dropped. Global
// memory: one read and one write of the row, and w elements again for every run.
//
// Measured on an H100, shares of a copy's bandwidth, 2^28 floats: 91 to 92 % for windows 101 to
// 4097 (tiles that do not march: 91 % at 101, 81 % at 4097); 10M doubles: 88 % at 101, 89 % at
// 1001, 79 % at 4097 (92, 85, 72 %). Streams that start at 16 bytes, not 128, cost 6 to 8 % of it.
// Exactly 5 elements by the same march, summed in registers: 85 to 92 %, behind block_sums_kernel.
// At 4097 doubles also, without gain: a slot or two more (54 and 53 %: one block less on a
// multiprocessor), 384 or 512 threads (66 to 71 and 77 to 79 %), 128 (63 to 65 %), chunks of 3 to
// 13 (29 to 68 %), and asking for the last slots after the first have come (78 %).

#include <algorithm>

#include "cuda_runtime/device_limits.hpp"
#include "kernels/mean_filter/block_sums.cuh"

namespace gpu::kernels {

inline constexpr int march_most_slots = 32;
/// Where streams start, bytes: copies of pieces across sectors of 32 bytes cost a tenth of the
/// bandwidth.
inline constexpr int march_alignment = 128;

/// What stands where in shared memory; the same for every tile of a call.
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

/// The ring of a block: slot s of a run is at s % slots.
template <int K, int Threads, class In>
struct march_ring {
  static constexpr int tile = K * Threads;
  static constexpr int mirror = K;  // elements that stand again behind the last slot

  In* elements;
  copy_barrier* barriers;
  int slots;
  unsigned phases = 0;  // of each slot's barrier, a bit each

  /// Fills slot s with the places from `place` on. All threads call it; all reads of what the slot
  /// held are done.
  template <class Args>
  __device__ void load(const Args& args, const In* row, index_t place, int s) {
    const int at = s % slots;
    In* to = elements + at * tile;
    const bool inside = args.inside(place, place + tile);
#if __CUDA_ARCH__ >= 900
    if (inside) {
      if (threadIdx.x == 0) {
        constexpr auto bytes = static_cast<unsigned>(tile * sizeof(In));
        constexpr auto again = static_cast<unsigned>((mirror * sizeof(In) + 15) / 16 * 16);
        expect(barriers[at], at == 0 ? bytes + again : bytes);
        fetch(to, row + place, bytes, barriers[at]);
        if (at == 0) fetch(elements + slots * tile, row + place, again, barriers[at]);
      }
      return;
    }
#endif
    for (int i = static_cast<int>(threadIdx.x); i < tile; i += Threads) {
      const In x = inside ? row[place + i] : args.extended(row, place + i);
      to[i] = x;
      if (at == 0 && i < mirror) elements[slots * tile + i] = x;
    }
#if __CUDA_ARCH__ >= 900
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    if (threadIdx.x == 0) {
      asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(shared_address(&barriers[at]))
                   : "memory");
    }
#endif
  }

  /// Waits for slot s, once each in order. Elements that threads stored need a __syncthreads().
  __device__ void await(int s) {
#if __CUDA_ARCH__ >= 900
    const int at = s % slots;
    wait_barrier(barriers[at], (phases >> at) & 1);
    phases ^= 1u << at;
#else
    static_cast<void>(s);
#endif
  }

#if __CUDA_ARCH__ >= 900
 private:
  static __device__ void expect(copy_barrier& barrier, unsigned bytes) {
    asm volatile(
        "mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(shared_address(&barrier)),
        "r"(bytes)
        : "memory");
  }
  static __device__ void fetch(void* to, const void* from, unsigned bytes, copy_barrier& barrier) {
    asm volatile(
        "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::
            "r"(shared_address(to)),
        "l"(__cvta_generic_to_global(from)), "r"(bytes), "r"(shared_address(&barrier))
        : "memory");
  }
#endif
};

/// Writes outputs [begin, end) of a tile whose output 0 would be at `to`. Between two of these the
/// block passes a __syncthreads() that thread 0 reaches after results_taken().
template <int Tile, class Out>
__device__ void write_outputs(Out* to, const Out* results, int begin, int end) {
#if __CUDA_ARCH__ >= 900
  if (begin == 0 && end == Tile && reinterpret_cast<std::uintptr_t>(to) % 32 == 0) {
    if (threadIdx.x == 0) {
      asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;" ::"l"(
                       __cvta_generic_to_global(to)),
                   "r"(shared_address(results)), "r"(static_cast<unsigned>(Tile * sizeof(Out)))
                   : "memory");
      asm volatile("cp.async.bulk.commit_group;" ::: "memory");
    }
    return;
  }
#endif
  for (int i = begin + static_cast<int>(threadIdx.x); i < end; i += static_cast<int>(blockDim.x)) {
    to[i] = results[i];
  }
}

/// Thread 0: waits until the last bulk copy has read the results.
__device__ inline void results_taken() {
#if __CUDA_ARCH__ >= 900
  if (threadIdx.x == 0) asm volatile("cp.async.bulk.wait_group.read 0;" ::: "memory");
#endif
}

/// The sums of the front chunks of a run.
template <class Sum, int Threads>
struct march_sums {
  Sum* sums;    // suffixes within 32 chunks where there are many between, else the chunks' own
  Sum* totals;  // of 32 chunks
  int kept;
  int between;  // chunks in every base
  int tile_at = 0;

  [[nodiscard]] __device__ bool many() const { return between >= 32; }

  /// Stores the sum of the thread's chunk; returns the sum of those of lower lanes where needed.
  __device__ Sum store(const Sum& own) {
    const int at = tile_at + static_cast<int>(threadIdx.x);
    if (!many()) {
      sums[at] = own;
      return {};
    }
    const Sum inclusive = warp_prefix(own);
    Sum suffix = warp_suffix_after(own);
    suffix.add(own);
    sums[at] = suffix;
    if (threadIdx.x % 32 == 31) totals[at / 32] = inclusive;
    const Sum before = shuffled_up(inclusive, 1);
    return threadIdx.x % 32 == 0 ? Sum{} : before;
  }

  /// Adds the chunks between to `base`; `before` is what store() returned. After a __syncthreads().
  __device__ void add_between(const Sum& before, Sum& base) const {
    const int own = tile_at + static_cast<int>(threadIdx.x);
    int at = own - between;
    if (at < 0) at += kept;
    if (!many()) {
      for (int c = 0; c < between; ++c) {
        base.add(sums[at]);
        if (++at == kept) at = 0;
      }
      return;
    }
    base.add(sums[at]);
    const int groups = kept / 32;
    // The groups that every lane adds stand behind the last lane's; lanes below may have one more.
    int first = __shfl_sync(0xffffffffu, at / 32, 31) + 1;
    if (at / 32 + 1 != first) base.add(totals[first - 1]);
    if (first == groups) first = 0;
    int count = own / 32 - first;
    if (count < 0) count += groups;
    if (count <= few_groups) {
      for (int i = 0; i < count; ++i) {
        base.add(totals[first]);
        if (++first == groups) first = 0;
      }
    } else {
      base.add(sum_of_groups(first, count));
    }
    base.add(before);
  }

  __device__ void next_tile() {
    tile_at += Threads;
    if (tile_at == kept) tile_at = 0;
  }

 private:
  // Up to so many totals each lane adds by itself; more are shared out among the lanes of a warp.
  static constexpr int few_groups = 5;

  __device__ Sum sum_of_groups(int first, int count) const {
    const int groups = kept / 32;
    const int lane = static_cast<int>(threadIdx.x) % 32;
    const int width = count <= 8 ? 8 : count <= 16 ? 16 : 32;
    Sum sum;
    for (int i = lane % width; i < count; i += width) {
      const int group = first + i;
      sum.add(totals[group < groups ? group : group - groups]);
    }
    for (int lanes = width / 2; lanes > 0; lanes /= 2) {
      const Sum other = shuffled_xor(sum, lanes);
      sum.add(other);
    }
    return sum;
  }
};

/// For windows of K and more.
template <class Sum, int K, int Threads, class In, class Out>
__global__ void __launch_bounds__(Threads)
    march_kernel(const __grid_constant__ filter_args<In, Out> args,
                 const __grid_constant__ march_layout layout,
                 const __grid_constant__ march_runs runs) {
  extern __shared__ __align__(128) unsigned char shared_bytes[];
  __shared__ copy_barrier barriers[march_most_slots];
  constexpr int tile = K * Threads;
  const int thread = static_cast<int>(threadIdx.x);
  const auto window = static_cast<int>(args.shape.window);
  const int ring_size = layout.slots * tile;
  march_ring<K, Threads, In> ring{reinterpret_cast<In*>(shared_bytes), barriers, layout.slots};
  Out* results = reinterpret_cast<Out*>(shared_bytes + layout.results_at);
  for (int s = 0; s < layout.slots; ++s) init_barrier(barriers[s]);
  for (index_t item = blockIdx.x; item < args.shape.rows * runs.per_row; item += gridDim.x) {
    const auto [row_number, run] = split_index(item, runs.per_row);
    const In* row = args.in_row(row_number);
    const index_t first_tile = run * runs.tiles;
    const auto tiles = static_cast<int>(runs.tiles < runs.tiles_per_row - first_tile
                                            ? runs.tiles
                                            : runs.tiles_per_row - first_tile);
    // Outputs in front of the row, so that the stream starts where memory's pieces do.
    const auto shift = static_cast<index_t>(
        (reinterpret_cast<std::uintptr_t>(row - args.shape.left) % march_alignment) / sizeof(In));
    const index_t first_output = first_tile * tile - shift;
    const index_t place = first_output - args.shape.left;
    const int wanted = tiles + layout.ahead;
    for (int s = 0; s < layout.slots && s < wanted; ++s) {
      ring.load(args, row, place + static_cast<index_t>(s) * tile, s);
    }
    __syncthreads();
    march_sums<Sum, Threads> sums{reinterpret_cast<Sum*>(shared_bytes + layout.sums_at),
                                  reinterpret_cast<Sum*>(shared_bytes + layout.totals_at),
                                  layout.kept, layout.chunks - 1};
    for (int s = 0; s < layout.ahead; ++s) ring.await(s);
    // Front chunks before the first tile's.
    for (int c = thread - (layout.kept - Threads); c < 0; c += Threads) {
      Sum own;
      if (c > -layout.chunks) own = chunk_sum<Sum, K>(ring.elements + window + c * K);
      static_cast<void>(sums.store(own));
      sums.next_tile();
    }
    int front_at = window % ring_size;
    int own_at = 0;
    for (int n = 0; n < tiles; ++n) {
      ring.await(n + layout.ahead);
      const In* own = ring.elements + own_at + thread * K;
      const index_t first = first_output + static_cast<index_t>(n) * tile;
      const bool full = args.template full_windows<Sum>(first, first + tile);
      const auto keep = [&](int j, const Sum& sum) {
        results[thread * K + j] =
            full ? args.full_mean(sum) : args.mean(sum, first + thread * K + j);
      };
      int at = front_at + thread * K;
      if (at >= ring_size) at -= ring_size;
      const In* front = ring.elements + at;
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
      for (int r = 0; r < layout.rest; ++r) running.add(static_cast<double>(own[K + r]));
      sums.add_between(before, running);
#pragma unroll
      for (int j = K - 1; j >= 0; --j) {
        running.add(static_cast<double>(own[j]));
        Sum sum = running;
        if (j > 0) sum.add(prefix[j]);
        keep(j, sum);
      }
#if __CUDA_ARCH__ >= 900
      asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
#endif
      __syncthreads();
      const index_t left = args.shape.output_cols - first;
      write_outputs<tile>(args.out_row(row_number) + first, results,
                          first < 0 ? static_cast<int>(-first) : 0,
                          left < tile ? static_cast<int>(left) : tile);
      if (n + layout.slots < wanted) {
        ring.load(args, row, place + static_cast<index_t>(n + layout.slots) * tile,
                  n + layout.slots);
      }
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

/// Marches where that is ahead and the ring fits the device; false where it does not.
template <class Sum, class In, class Out>
bool launch_marching_block_sums(const filter_args<In, Out>& args, cudaStream_t stream) {
  using policy = block_sums_policy<sizeof(In)>;
  constexpr block_sums_tile tile = policy::march;
  constexpr block_sums_tile wide = policy::march_wide;
  if (args.shape.window < policy::march_from) return false;
  if (args.shape.window > tile.outputs * tile.threads &&
      args.shape.window <= wide.outputs * wide.threads &&
      launch_march_that_fits<Sum, wide.outputs, wide.threads>(args, stream)) {
    return true;
  }
  return launch_march_that_fits<Sum, tile.outputs, tile.threads>(args, stream);
}

}  // namespace gpu::kernels
