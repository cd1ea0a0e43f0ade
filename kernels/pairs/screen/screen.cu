// What surrounds the pair screen: ordering rows by norm, packing them, choosing the instance, and
// the exact test of the candidates.

#include <cuda_fp16.h>
#include <cuda_fp8.h>

#include <cub/device/device_radix_sort.cuh>

#include <bit>

#include "kernels/common/launch.cuh"
#include "kernels/common/warp.cuh"
#include "kernels/pairs/prepare/row_sort.cuh"
#include "kernels/pairs/screen/found.cuh"
#include "kernels/pairs/screen/screen_tiles.cuh"

namespace gpu::kernels {
namespace {

constexpr int threads = 256;

__global__ void sort_keys_kernel(const std::int64_t* square_sums, index_t rows,
                                 const row_sides sides, std::uint32_t largest, std::uint32_t* keys,
                                 std::uint32_t* values) {
  const index_t i = static_cast<index_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i >= rows) return;
  // Rows without a statistic have 0 or less, and come first, of all rows or of their side.
  const std::uint32_t none = sides.keeps_invalid ? 1 : 0;
  std::uint32_t key = square_sums[i] > 0 ? static_cast<std::uint32_t>(square_sums[i]) : none;
  if (!sides.is_left(i)) key = key != 0 && sides.is_right(i) ? largest + key : 0;
  keys[i] = key;
  values[i] = static_cast<std::uint32_t>(i);
}

// What stands in columns 30 and 31 of rows that leave them free: the units of the left row's bias.
template <screen_operand operand>
__device__ std::uint8_t bias_unit(int column) {
  if constexpr (operand == screen_operand::int8) {
    return column == 30 ? static_cast<std::uint8_t>(int8_bias_unit) : std::uint8_t{1};
  } else {
    return __nv_cvt_float_to_fp8(column == 30 ? e4m3_bias_coarse : e4m3_bias_fine, __NV_SATFINITE,
                                 __NV_E4M3);
  }
}

// The bounds of a block of 64 rows from those of each row, one a thread. All threads.
__device__ void store_bounds(const screen_rows& packed, index_t i, float norm, float error) {
  norm = warp_min(norm);
  error = warp_max(error);
  __shared__ float norms[threads / 32];
  __shared__ float errors[threads / 32];
  if (threadIdx.x % 32 == 0) {
    norms[threadIdx.x / 32] = norm;
    errors[threadIdx.x / 32] = error;
  }
  __syncthreads();
  if (threadIdx.x % screen_block_rows == 0) {
    const unsigned warp = threadIdx.x / 32;
    packed.blocks[i / screen_block_rows] = {fminf(norms[warp], norms[warp + 1]),
                                            fmaxf(errors[warp], errors[warp + 1])};
  }
}

// One thread packs one row: 16 bytes at a time, into groups of eight rows whose 16-byte pieces
// stand together, so that eight threads write 128 consecutive bytes.
template <screen_operand operand>
__global__ void pack_kernel(screen_ranks source, screen_rows packed) {
  const index_t i = static_cast<index_t>(blockIdx.x) * threads + threadIdx.x;
  const std::uint32_t placed = i < packed.rows ? packed.order[i] : no_packed_row;
  const bool real = placed != no_packed_row && source.square_sums[placed] > 0;
  const index_t row = real ? placed : 0;
  const std::int8_t* ranks = source.ranks + row * source.stride;
  std::uint8_t* out = packed.tiles + (i / 8) * 8 * packed.depth + (i % 8) * 16;
  const bool biased = packed.depth == 32;
  const float scale = biased ? 1.0F : e4m3_deep_scale;  // a power of two: no more is rounded
  float square = 0.0F;
  float error = 0.0F;
  for (int piece = 0; piece < packed.depth / 16; ++piece) {
    alignas(16) std::uint8_t bytes[16];
#pragma unroll
    for (int b = 0; b < 16; ++b) {
      const int k = piece * 16 + b;
      const int rank = real && k < source.cols ? ranks[k] : 0;
      if constexpr (operand == screen_operand::int8) {
        bytes[b] = static_cast<std::uint8_t>(rank);
      } else {
        const __nv_fp8_storage_t value =
            __nv_cvt_float_to_fp8(static_cast<float>(rank) * scale, __NV_SATFINITE, __NV_E4M3);
        const float lost = __half2float(__half(__nv_cvt_fp8_to_halfraw(value, __NV_E4M3))) / scale -
                           static_cast<float>(rank);
        square += static_cast<float>(rank * rank);
        error += lost * lost;
        bytes[b] = value;
      }
      if (biased && (k == 30 || k == 31)) bytes[b] = bias_unit<operand>(k);
    }
    *reinterpret_cast<int4*>(out + piece * 128) = *reinterpret_cast<const int4*>(bytes);
  }
  // Both bounds are rounded to the safe side. Rows of padding bound nothing.
  const float norm =
      real ? sqrtf(static_cast<float>(source.square_sums[row])) * (1.0F - threshold_slack) : 1e15F;
  const float relative = square > 0.0F ? sqrtf(error / square) * (1.0F + threshold_slack) : 0.0F;
  store_bounds(packed, i, norm, relative);
}

// One thread sums up the blocks of one tile. The entry behind the last tile is read ahead.
__global__ void tile_bounds_kernel(screen_rows packed, int tile_count, int blocks_per_tile) {
  const int tile = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (tile > tile_count) return;
  screen_block bounds{1e15F, 0.0F};
  for (int x = 0; tile < tile_count && x < blocks_per_tile; ++x) {
    const screen_block block = packed.blocks[tile * blocks_per_tile + x];
    bounds.smallest_norm = fminf(bounds.smallest_norm, block.smallest_norm);
    bounds.largest_error = fmaxf(bounds.largest_error, block.largest_error);
  }
  packed.tile_bounds[tile] = bounds;
}

// One thread tests one candidate: exact integer product sum, then the one definition of rho.
__global__ void refine_kernel(screen_ranks source, const std::uint32_t* order,
                              const detail::pair_cut keep, const screen_candidates candidates,
                              const screened_edges edges) {
  const std::uint64_t found = listed(candidates);
  const std::uint64_t step = static_cast<std::uint64_t>(gridDim.x) * blockDim.x;
  for (std::uint64_t i = static_cast<std::uint64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
       i < found; i += step) {
    const std::uint32_t a = order[candidates.list[i].left];
    const std::uint32_t b = order[candidates.list[i].right];
    if (a == no_packed_row || b == no_packed_row) continue;
    const auto* x = reinterpret_cast<const int*>(source.ranks + a * source.stride);
    const auto* y = reinterpret_cast<const int*>(source.ranks + b * source.stride);
    int sum = 0;
    for (int k = 0; k < (static_cast<int>(source.cols) + 3) / 4; ++k) sum = __dp4a(x[k], y[k], sum);
    add_kept_ranks(a, b, sum, source.square_sums, keep, edges);
  }
}

// How the items of narrow rows are numbered.
screen_walk find_walk(const screen_rows& packed) {
  const screen_policy policy = select_screen_policy(packed.depth);
  const index_t panel = panel_rows(policy);
  const index_t panels_of_chunk = index_t{policy.chunk_tiles} * policy.tile_rows / panel;
  const index_t panels = ceil_div(packed.left_rows, panel);
  return {.left_panels = panels,
          .growing_chunks = packed.first_right > 0 ? 0 : panels / panels_of_chunk};
}

}  // namespace

std::size_t screen_order_bytes(index_t rows) {
  return row_sort_scratch::bytes(rows);
}

void launch_screen_order(const std::int64_t* square_sums, index_t rows, const row_sides& sides,
                         std::int64_t largest, std::uint32_t* order, void* temporary,
                         cudaStream_t stream) {
  if (rows == 0) return;
  cuda::arena pieces(temporary);
  row_sort_scratch room(pieces, rows);
  sort_keys_kernel<<<grid_blocks(rows, threads), threads, 0, stream>>>(
      square_sums, rows, sides, static_cast<std::uint32_t>(largest), room.keys, room.numbers);
  GPU_SIMILARITY_CHECK_LAUNCH();
  const auto largest_key = static_cast<std::uint64_t>(sides.has_right() ? 2 * largest : largest);
  GPU_SIMILARITY_CUDA_CHECK(cub::DeviceRadixSort::SortPairs(
      room.cub, room.cub_bytes, room.keys, room.sorted_keys, room.numbers, order, rows, 0,
      static_cast<int>(std::bit_width(largest_key)), stream));
}

void launch_screen_pack(const screen_ranks& ranks, const screen_rows& packed, cudaStream_t stream) {
  const unsigned blocks = static_cast<unsigned>(packed.padded_rows / threads);
  if (blocks == 0) return;
  if (packed.operand == screen_operand::e4m3) {
    pack_kernel<screen_operand::e4m3><<<blocks, threads, 0, stream>>>(ranks, packed);
  } else {
    pack_kernel<screen_operand::int8><<<blocks, threads, 0, stream>>>(ranks, packed);
  }
  GPU_SIMILARITY_CHECK_LAUNCH();
  launch_tile_bounds(packed, stream);
}

void launch_tile_bounds(const screen_rows& packed, cudaStream_t stream) {
  const int tile_rows = select_screen_policy(packed.depth).tile_rows;
  const int tile_count = static_cast<int>(packed.padded_rows / tile_rows);
  tile_bounds_kernel<<<grid_blocks(tile_count + 1, threads), threads, 0, stream>>>(
      packed, tile_count, tile_rows / screen_block_rows);
  GPU_SIMILARITY_CHECK_LAUNCH();
}

index_t screen_items(const screen_rows& packed) {
  if (packed.depth > 128) return wide_screen_items(packed);
  const screen_policy policy = select_screen_policy(packed.depth);
  const index_t chunk_rows = index_t{policy.chunk_tiles} * policy.tile_rows;
  return items_before(find_walk(packed),
                      ceil_div(packed.padded_rows - packed.first_right, chunk_rows),
                      chunk_rows / panel_rows(policy));
}

void launch_screen(const screen_rows& packed, double cut, index_t first, index_t last,
                   const screen_candidates& candidates, int multiprocessors, cudaStream_t stream) {
  const screen_policy policy = select_screen_policy(packed.depth);
  const screen_arguments args{.tiles = packed.tiles,
                              .blocks = packed.blocks,
                              .tile_bounds = packed.tile_bounds,
                              .rows = static_cast<unsigned>(packed.rows),
                              .walk = find_walk(packed),
                              .first_tile = static_cast<int>(packed.first_right / policy.tile_rows),
                              .tile_count = static_cast<int>(packed.padded_rows / policy.tile_rows),
                              .first_item = first,
                              .last_item = last,
                              .cut = static_cast<float>(cut) * (1.0F - threshold_slack),
                              .candidates = candidates};
  if (packed.depth > 128) {
    launch_pair_screen_wide(packed, args, multiprocessors, stream);
  } else if (packed.operand == screen_operand::e4m3) {
    launch_pair_screen<screen_operand::e4m3>(packed.depth, args, multiprocessors, stream);
  } else {
    launch_pair_screen<screen_operand::int8>(packed.depth, args, multiprocessors, stream);
  }
}

void launch_screen_refine(const screen_ranks& ranks, const screen_rows& packed,
                          const detail::pair_cut& keep, const screen_candidates& candidates,
                          const screened_edges& edges, cudaStream_t stream) {
  constexpr int blocks = 1024;
  refine_kernel<<<blocks, threads, 0, stream>>>(ranks, packed.order, keep, candidates, edges);
  GPU_SIMILARITY_CHECK_LAUNCH();
}

}  // namespace gpu::kernels
