#pragma once
// Variant `multi_level`: windows longer than a tile. Three launches, where the window is q tiles
// and r places long:
//   1. the sums of each tile of 1152 places of an extended row, and of its first r places;
//   2. the sum of every 256 tiles;
//   3. one tile of outputs a block: with b the tile,
//      window of output j = suffix of tile b from j on + base + prefix of the elements from the
//      end of the first window on, where the base, the tiles b + 1 to b + q - 1 and the first r
//      places of tile b + q, is the same for all outputs of the tile.
// Traffic: the row is read once by 1 and twice by 3 (own elements and those a window ahead, which
// the second-level cache serves for windows up to its size), and written once. Sums are of two
// doubles for every type: a window may hold 2^31 elements.

#include "kernels/mean_filter/block_sums.cuh"

namespace gpu::kernels {

/// Sum over all threads of the block, in the order of the threads; every thread gets it. `room` is
/// one for each warp.
template <class Sum>
__device__ Sum block_total(Sum own, Sum* room) {
  own = warp_prefix(own);
  if (threadIdx.x % 32 == 31) room[threadIdx.x / 32] = own;
  __syncthreads();
  Sum total;
#pragma unroll
  for (int w = 0; w < chunk_threads / 32; ++w) total.add(room[w]);
  __syncthreads();
  return total;
}

/// Tiles of one row at each level.
struct level_counts {
  index_t output_tiles;
  index_t tiles;
  index_t supers;
  /// All of a row: of tiles, of what they begin with, and of tiles of tiles.
  [[nodiscard]] __host__ __device__ index_t sums() const { return 2 * tiles + supers; }
};
inline level_counts count_levels(const detail::filter_shape& shape) {
  const index_t outputs = ceil_div(shape.output_cols, level_tile);
  const index_t tiles = outputs + shape.window / level_tile;
  return {outputs, tiles, ceil_div(tiles, level_fan)};
}

/// The sums of all rows.
template <class Sum>
struct level_sums {
  level_counts counts;
  Sum* all;
  __device__ Sum* tiles(index_t row) const { return all + row * counts.sums(); }
  __device__ Sum* heads(index_t row) const { return tiles(row) + counts.tiles; }
  __device__ Sum* supers(index_t row) const { return heads(row) + counts.tiles; }
};

template <class Sum, class In, class Out>
__global__ void __launch_bounds__(chunk_threads)
    tile_sums_kernel(const __grid_constant__ filter_args<In, Out> args, level_sums<Sum> sums) {
  __shared__ Sum room[chunk_threads / 32];
  const index_t rest = args.shape.window % level_tile;
  for (index_t t = blockIdx.x; t < args.shape.rows * sums.counts.tiles; t += gridDim.x) {
    const auto [row, tile] = split_index(t, sums.counts.tiles);
    const In* const in = args.in_row(row);
    const index_t first = tile * level_tile - args.shape.left;
    const bool inside = args.inside(first, first + level_tile);
    double own[level_outputs];
#pragma unroll
    for (int j = 0; j < level_outputs; ++j) {
      const index_t e = first + threadIdx.x + j * chunk_threads;
      own[j] = static_cast<double>(inside ? in[e] : args.extended(in, e));
    }
    Sum head;
    Sum tail;
#pragma unroll
    for (int j = 0; j < level_outputs; ++j) {
      if (static_cast<int>(threadIdx.x) + j * chunk_threads < rest) {
        head.add(own[j]);
      } else {
        tail.add(own[j]);
      }
    }
    head = block_total(head, room);
    tail = block_total(tail, room);
    if (threadIdx.x == 0) {
      sums.heads(row)[tile] = head;
      tail.add(head);
      sums.tiles(row)[tile] = tail;
    }
  }
}

/// Adds sums first to end - 1, thread by thread.
template <class Sum>
__device__ void add_sums(const Sum* sums, index_t first, index_t end, Sum& sum) {
  for (index_t t = first + threadIdx.x; t < end; t += chunk_threads) sum.add(sums[t]);
}

template <class Sum>
__global__ void __launch_bounds__(chunk_threads)
    super_sums_kernel(level_sums<Sum> sums, index_t rows) {
  __shared__ Sum room[chunk_threads / 32];
  for (index_t s = blockIdx.x; s < rows * sums.counts.supers; s += gridDim.x) {
    const auto [row, super] = split_index(s, sums.counts.supers);
    const index_t first = super * level_fan;
    Sum sum;
    add_sums(sums.tiles(row), first, min(first + level_fan, sums.counts.tiles), sum);
    sum = block_total(sum, room);
    if (threadIdx.x == 0) sums.supers(row)[super] = sum;
  }
}

/// Adds the tiles first to end - 1, thread by thread, whole super sums where they fit.
template <class Sum>
__device__ void add_tiles(const Sum* tiles, const Sum* supers, index_t first, index_t end,
                          Sum& sum) {
  const index_t super_first = ceil_div(first, level_fan);
  const index_t super_end = end / level_fan;
  if (super_first >= super_end) return add_sums(tiles, first, end, sum);
  add_sums(tiles, first, super_first * level_fan, sum);
  add_sums(supers, super_first, super_end, sum);
  add_sums(tiles, super_end * level_fan, end, sum);
}

/// Sum of the totals of the threads before this one; `room` is one for each warp.
template <class Sum>
__device__ Sum sum_before(const Sum& own, Sum* room) {
  const Sum inclusive = warp_prefix(own);
  const unsigned warp = threadIdx.x / 32;
  if (threadIdx.x % 32 == 31) room[warp] = inclusive;
  __syncthreads();
  Sum before;
  for (unsigned w = 0; w < warp; ++w) before.add(room[w]);
  const Sum lanes_before = shuffled_up(inclusive, 1);
  if (threadIdx.x % 32 != 0) before.add(lanes_before);
  __syncthreads();
  return before;
}

/// Sum of the totals of the threads after this one.
template <class Sum>
__device__ Sum sum_after(const Sum& own, Sum* room) {
  Sum after = warp_suffix_after(own);
  const unsigned warp = threadIdx.x / 32;
  if (threadIdx.x % 32 == 0) {
    Sum total = own;
    total.add(after);
    room[warp] = total;
  }
  __syncthreads();
  for (unsigned w = warp + 1; w < chunk_threads / 32; ++w) after.add(room[w]);
  __syncthreads();
  return after;
}

/// Shared memory: the own elements, and those a window ahead; the results stand where these were.
template <class Sum, class In, class Out>
__global__ void __launch_bounds__(chunk_threads)
    multi_level_kernel(const __grid_constant__ filter_args<In, Out> args,
                       const level_sums<Sum> sums) {
  constexpr int count = static_cast<int>(level_tile);
  constexpr std::size_t in_bytes = (count * sizeof(In) + stage_slack + 127) / 128 * 128;
  constexpr std::size_t out_bytes = count * sizeof(Out);
  __shared__ __align__(
      16) unsigned char shared_bytes[2 * in_bytes > out_bytes ? 2 * in_bytes : out_bytes];
  __shared__ Sum room[chunk_threads / 32];
  __shared__ copy_barrier barriers[2];
  init_barriers(barriers, 2);
  unsigned phases[2] = {0, 0};
  const index_t window = args.shape.window;
  const index_t whole = window / level_tile;
  const int at = static_cast<int>(threadIdx.x) * level_outputs;
  for (index_t t = blockIdx.x; t < args.shape.rows * sums.counts.output_tiles; t += gridDim.x) {
    const auto [row, b] = split_index(t, sums.counts.output_tiles);
    const index_t output = b * level_tile;
    const index_t first = output - args.shape.left;
    bool bulk[2];
    const In* const own =
        begin_tile(args, args.in_row(row), first, count, shared_bytes, barriers[0], bulk[0]) + at;
    const In* const front = begin_tile(args, args.in_row(row), first + window, count,
                                       shared_bytes + in_bytes, barriers[1], bulk[1]) +
                            at;
    Sum base;
    add_tiles(sums.tiles(row), sums.supers(row), b + 1, b + whole, base);
    base = block_total(base, room);
    base.add(sums.heads(row)[b + whole]);
    await_tile(barriers[0], bulk[0], phases[0]);
    Sum suffix[level_outputs];
    Sum total;
#pragma unroll
    for (int j = level_outputs - 1; j >= 0; --j) {
      total.add(static_cast<double>(own[j]));
      suffix[j] = total;
    }
    base.add(sum_after(total, room));
    await_tile(barriers[1], bulk[1], phases[1]);
    base.add(sum_before(chunk_sum<Sum, level_outputs>(front), room));
    const bool full = args.template full_windows<Sum>(output, output + count);
    Out means[level_outputs];
#pragma unroll
    for (int j = 0; j < level_outputs; ++j) {
      if (j > 0) base.add(static_cast<double>(front[j - 1]));
      suffix[j].add(base);
      means[j] = full ? args.full_mean(suffix[j], row, output + at + j)
                      : args.mean(suffix[j], row, output + at + j);
    }
    __syncthreads();
    Out* const results = reinterpret_cast<Out*>(shared_bytes);
#pragma unroll
    for (int j = 0; j < level_outputs; ++j) results[at + j] = means[j];
    const index_t left = args.shape.output_cols - output;
    write_tile(args.out_row(row) + output, results, left < count ? static_cast<int>(left) : count,
               count);
    results_read();
  }
}

/// Windows of level_tile and longer; `workspace` holds the sums of all rows.
template <class Sum, class In, class Out>
void launch_multi_level(const filter_args<In, Out>& args, void* workspace, cudaStream_t stream) {
  const level_sums<Sum> sums{count_levels(args.shape), static_cast<Sum*>(workspace)};
  const index_t rows = args.shape.rows;
  const auto blocks = [&](index_t per_row) { return grid_blocks(rows * per_row, 1); };
  tile_sums_kernel<<<blocks(sums.counts.tiles), chunk_threads, 0, stream>>>(args, sums);
  GPU_SIMILARITY_CHECK_LAUNCH();
  super_sums_kernel<<<blocks(sums.counts.supers), chunk_threads, 0, stream>>>(sums, rows);
  GPU_SIMILARITY_CHECK_LAUNCH();
  multi_level_kernel<<<blocks(sums.counts.output_tiles), chunk_threads, 0, stream>>>(args, sums);
  GPU_SIMILARITY_CHECK_LAUNCH();
}

}  // namespace gpu::kernels
