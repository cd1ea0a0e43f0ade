#pragma once
// Variant `multi_level`: windows longer than shared memory. Three launches:
//   1. the sum of each tile of 2304 places of the extended row;
//   2. the sum of every 256 of those;
//   3. one tile of outputs a block: with b the tile,
//      window of output j = suffix of tile b from j on + base + prefix of the elements from the
//      end of the first window on, where the base, whole tiles and fewer than one tile of single
//      elements, is the same for all outputs of the tile.
// Traffic: the row is read once by 1 and twice by 3 (own elements and those a window ahead, which
// the second-level cache serves for windows up to its size), and written once. Sums are of two
// doubles for every type: a window may hold 2^31 elements.

#include "kernels/mean_filter/block_sums.cuh"

namespace gpu::kernels {

/// Sum over all threads of the block, in the order of the threads; every thread gets it.
template <class Sum, int Threads>
__device__ Sum block_total(Sum own, Sum* room) {
  own = warp_prefix(own);
  if (threadIdx.x % 32 == 31) room[threadIdx.x / 32] = own;
  __syncthreads();
  Sum total;
#pragma unroll
  for (int w = 0; w < Threads / 32; ++w) total.add(room[w]);
  __syncthreads();
  return total;
}

template <class In, class Out>
__device__ double place_value(const filter_args<In, Out>& args, const In* row, index_t e,
                              bool inside) {
  return static_cast<double>(inside ? row[e] : args.extended(row, e));
}

/// Adds places first to end - 1, thread by thread.
template <class Sum, class In, class Out>
__device__ void add_places(const filter_args<In, Out>& args, const In* row, index_t first,
                           index_t end, Sum& sum) {
  const bool inside = args.inside(first, end);
#pragma unroll 4
  for (index_t e = first + threadIdx.x; e < end; e += level_threads) {
    sum.add(place_value(args, row, e, inside));
  }
}

template <class Sum, class In, class Out>
__global__ void __launch_bounds__(level_threads)
    tile_sums_kernel(const __grid_constant__ filter_args<In, Out> args, index_t tiles_per_row,
                     Sum* sums) {
  __shared__ Sum room[level_threads / 32];
  for (index_t t = blockIdx.x; t < args.shape.rows * tiles_per_row; t += gridDim.x) {
    const auto [row, tile] = split_index(t, tiles_per_row);
    const index_t first = tile * level_tile - args.shape.left;
    Sum sum;
    add_places(args, args.in_row(row), first, first + level_tile, sum);
    sum = block_total<Sum, level_threads>(sum, room);
    if (threadIdx.x == 0) sums[t] = sum;
  }
}

template <class Sum>
__global__ void __launch_bounds__(level_threads)
    super_sums_kernel(const Sum* sums, index_t rows, index_t tiles_per_row, index_t supers_per_row,
                      Sum* supers) {
  __shared__ Sum room[level_threads / 32];
  for (index_t s = blockIdx.x; s < rows * supers_per_row; s += gridDim.x) {
    const auto [row, super] = split_index(s, supers_per_row);
    const index_t first = super * level_fan;
    const index_t end = first + level_fan < tiles_per_row ? first + level_fan : tiles_per_row;
    Sum sum;
    for (index_t t = first + threadIdx.x; t < end; t += level_threads) {
      sum.add(sums[row * tiles_per_row + t]);
    }
    sum = block_total<Sum, level_threads>(sum, room);
    if (threadIdx.x == 0) supers[s] = sum;
  }
}

/// Adds the tiles first to end - 1, thread by thread, whole super sums where they fit.
template <class Sum>
__device__ void add_tiles(const Sum* sums, const Sum* supers, index_t first, index_t end,
                          Sum& sum) {
  const index_t super_first = ceil_div(first, level_fan);
  const index_t super_end = end / level_fan;
  if (super_first >= super_end) {
    for (index_t t = first + threadIdx.x; t < end; t += level_threads) sum.add(sums[t]);
    return;
  }
  for (index_t t = first + threadIdx.x; t < super_first * level_fan; t += level_threads) {
    sum.add(sums[t]);
  }
  for (index_t s = super_first + threadIdx.x; s < super_end; s += level_threads) {
    sum.add(supers[s]);
  }
  for (index_t t = super_end * level_fan + threadIdx.x; t < end; t += level_threads) {
    sum.add(sums[t]);
  }
}

/// Sum of the totals of the threads before this one; `room` is one per warp.
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
  for (unsigned w = warp + 1; w < level_threads / 32; ++w) after.add(room[w]);
  __syncthreads();
  return after;
}

/// The thread's level_outputs places of the tile from place `first` on, in registers.
template <class In, class Out>
__device__ void read_chunk(const filter_args<In, Out>& args, const In* row, index_t first, In* tile,
                           In (&chunk)[level_outputs]) {
  const bool inside = args.inside(first, first + level_tile);
#pragma unroll
  for (int k = 0; k < level_outputs; ++k) {
    const int i = static_cast<int>(threadIdx.x) + k * level_threads;
    tile[i] = inside ? row[first + i] : args.extended(row, first + i);
  }
  __syncthreads();
#pragma unroll
  for (int k = 0; k < level_outputs; ++k) chunk[k] = tile[threadIdx.x * level_outputs + k];
  __syncthreads();
}

template <class Sum, class In, class Out>
__global__ void __launch_bounds__(level_threads)
    multi_level_kernel(const __grid_constant__ filter_args<In, Out> args, const Sum* sums,
                       const Sum* supers, index_t output_tiles, index_t tiles_per_row,
                       index_t supers_per_row) {
  __shared__ Sum room[level_threads / 32];
  __shared__ __align__(16) unsigned char shared_bytes[level_tile * sizeof(double)];
  In* tile = reinterpret_cast<In*>(shared_bytes);
  const index_t window = args.shape.window;
  const index_t whole = (window - level_tile) / level_tile;
  for (index_t t = blockIdx.x; t < args.shape.rows * output_tiles; t += gridDim.x) {
    const auto [row, b] = split_index(t, output_tiles);
    const In* in = args.in_row(row);
    const index_t first = b * level_tile - args.shape.left;
    // The base: whole tiles, then single elements up to the end of the first window.
    Sum part;
    add_tiles(sums + row * tiles_per_row, supers + row * supers_per_row, b + 1, b + 1 + whole,
              part);
    add_places(args, in, first + (1 + whole) * level_tile, first + window, part);
    const Sum base = block_total<Sum, level_threads>(part, room);
    // Suffixes of the own elements.
    In own[level_outputs];
    read_chunk(args, in, first, tile, own);
    Sum suffix[level_outputs];
    Sum total;
#pragma unroll
    for (int j = level_outputs - 1; j >= 0; --j) {
      total.add(static_cast<double>(own[j]));
      suffix[j] = total;
    }
    const Sum after = sum_after(total, room);
    // Prefixes of the elements from the end of the first window on.
    read_chunk(args, in, first + window, tile, own);
    Sum chunk;
#pragma unroll
    for (int j = 0; j < level_outputs; ++j) chunk.add(static_cast<double>(own[j]));
    Sum prefix = base;
    prefix.add(sum_before(chunk, room));
    Out* results = reinterpret_cast<Out*>(shared_bytes);
    const index_t output = b * level_tile + threadIdx.x * level_outputs;
#pragma unroll
    for (int j = 0; j < level_outputs; ++j) {
      if (j > 0) prefix.add(static_cast<double>(own[j - 1]));
      suffix[j].add(after);
      suffix[j].add(prefix);
      results[threadIdx.x * level_outputs + j] = args.mean(suffix[j], row, output + j);
    }
    __syncthreads();
    const index_t left = args.shape.output_cols - b * level_tile;
    Out* out = args.out_row(row) + b * level_tile;
    for (index_t i = threadIdx.x; i < level_tile && i < left; i += level_threads) {
      out[i] = results[i];
    }
    __syncthreads();
  }
}

/// Tiles of one row at each level.
struct level_counts {
  index_t output_tiles;
  index_t tiles;
  index_t supers;
};
inline level_counts count_levels(const detail::filter_shape& shape) {
  const index_t outputs = ceil_div(shape.output_cols, level_tile);
  const index_t tiles = outputs + shape.window / level_tile;
  return {outputs, tiles, ceil_div(tiles, level_fan)};
}

/// Windows of level_tile and longer; `workspace` holds (tiles + supers) sums for each row.
template <class Sum, class In, class Out>
void launch_multi_level(const filter_args<In, Out>& args, void* workspace, cudaStream_t stream) {
  const auto [output_tiles, tiles, supers] = count_levels(args.shape);
  const index_t rows = args.shape.rows;
  Sum* sums = static_cast<Sum*>(workspace);
  Sum* super_sums = sums + rows * tiles;
  tile_sums_kernel<Sum>
      <<<grid_blocks(rows * tiles, 1), level_threads, 0, stream>>>(args, tiles, sums);
  GPU_SIMILARITY_CHECK_LAUNCH();
  super_sums_kernel<<<grid_blocks(rows * supers, 1), level_threads, 0, stream>>>(
      sums, rows, tiles, supers, super_sums);
  GPU_SIMILARITY_CHECK_LAUNCH();
  multi_level_kernel<Sum><<<grid_blocks(rows * output_tiles, 1), level_threads, 0, stream>>>(
      args, sums, super_sums, output_tiles, tiles, supers);
  GPU_SIMILARITY_CHECK_LAUNCH();
}

}  // namespace gpu::kernels
