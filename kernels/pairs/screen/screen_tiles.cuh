#pragma once
// The pair screen: which pairs of rows may reach a strict cut on |rho|, at tensor-core speed.
//
// A block holds a panel of 3 x 2 x 64 left rows in shared memory and walks a chunk of the right
// rows, which a ring of bulk copies streams through shared memory, one tile a stage. Each
// warpgroup multiplies its 64-row blocks by 256 right rows at a time (wgmma, sums in registers)
// and takes one maximum over its sums; only a warp with a sum past the threshold looks closer.
//
// The threshold. With depth 32 two columns are free: they add the bias T to every sum, so that a
// single unsigned maximum covers both signs: |s| > T <=> unsigned(s + T) > 2 T. Half-precision sums
// compare as 16-bit integers, because non-negative halves order like their bits and negative ones
// have the top bit set. Deeper rows have no free columns; their multiply takes longer and overlaps
// a maximum and a minimum. Rows are sorted by norm, so T of a tile is close to T of each of its
// pairs, and below it: the exact test decides.
//
// Left rows are those of the left side (kernels/pairs/sides.hpp). Right rows are all packed rows,
// and a pair is taken above the diagonal; or, where left rows do not meet each other, the rows of
// the right side, which begin with a tile of their own.
//
// Order of work: items walk chunk by chunk, so that the blocks on the device share one chunk of
// right rows in L2 while their panels differ.
// Shared memory: ring, panel and 512 bytes a warp for the close look; 1 block a multiprocessor.

#include <cstdint>

#include "kernels/common/bulk_copy.cuh"
#include "kernels/common/wgmma.cuh"
#include "kernels/pairs/screen/kernels.hpp"
#include "kernels/pairs/screen/multiply.cuh"
#include "plan/screen_policy.hpp"

namespace gpu::kernels {

/// How work items are numbered: chunk c of right rows meets min(c + 1 chunks, all) of the panels of
/// left rows where left rows meet each other, and all of them where they do not.
struct screen_walk {
  index_t left_panels;
  index_t growing_chunks;  // chunks that meet one chunk of panels more than the one before
};

struct screen_arguments {
  const std::uint8_t* tiles;
  const screen_block* blocks;
  const screen_block* tile_bounds;
  unsigned rows;
  screen_walk walk;
  int first_tile;  // of the right rows
  int tile_count;  // of all rows
  index_t first_item;
  index_t last_item;
  float cut;
  screen_candidate* candidates;
  std::uint64_t capacity;
  std::uint64_t* count;
};

/// Items of the chunks before `chunk`, where a chunk has as many rows as `panels` panels.
__host__ __device__ constexpr index_t items_before(const screen_walk& walk, index_t chunk,
                                                   index_t panels) {
  const index_t growing = chunk < walk.growing_chunks ? chunk : walk.growing_chunks;
  return panels * (growing * (growing + 1) / 2) + (chunk - growing) * walk.left_panels;
}

#if defined(__CUDA_ARCH_FEAT_SM90_ALL)

/// A position in the walk over items and tiles.
struct screen_cursor {
  index_t item;
  index_t chunk;
  int tile;
  int last_tile;
};

/// Moves to the next item with a tile on or above the diagonal; false at the end of the work.
template <int panel, int tile_rows, int chunk_tiles>
__device__ __forceinline__ bool settle(const screen_arguments& args, screen_cursor& at) {
  constexpr index_t panels = index_t{chunk_tiles} * tile_rows / panel;
  for (; at.item < args.last_item; at.item += gridDim.x) {
    while (at.item >= items_before(args.walk, at.chunk + 1, panels)) ++at.chunk;
    const index_t row = (at.item - items_before(args.walk, at.chunk, panels)) * panel;
    const index_t first = args.first_tile + at.chunk * chunk_tiles;
    at.tile = static_cast<int>(max(first, row / tile_rows));
    at.last_tile =
        static_cast<int>(min(first + chunk_tiles, static_cast<index_t>(args.tile_count)));
    if (at.tile < at.last_tile) return true;
  }
  return false;
}

/// The close look of one warp at its sums, of which lanes with `hit` hold at least one that passed:
/// one such lane at a time puts its sums into shared memory and the whole warp tests them, so that
/// the rare path neither indexes registers nor walks through them one by one.
template <class Multiply>
__device__ __forceinline__ void collect(const screen_arguments& args,
                                        const typename Multiply::sum (&d)[Multiply::sums], bool hit,
                                        unsigned limit, unsigned first_row, unsigned first_column,
                                        typename Multiply::sum* scratch) {
  const unsigned lane = threadIdx.x & 31U;
  for (unsigned hits = __ballot_sync(~0U, hit); hits != 0; hits &= hits - 1) {
    const unsigned source = static_cast<unsigned>(__ffs(static_cast<int>(hits))) - 1;
    if (lane == source) {
#pragma unroll
      for (int i = 0; i < Multiply::sums; i += 4) {
        *reinterpret_cast<int4*>(scratch + i) =
            make_int4(static_cast<int>(d[i]), static_cast<int>(d[i + 1]),
                      static_cast<int>(d[i + 2]), static_cast<int>(d[i + 3]));
      }
    }
    __syncwarp();
#pragma unroll 1
    for (int i = static_cast<int>(lane); i < Multiply::sums; i += 32) {
      for (int part = 0; part < Multiply::values_per_sum; ++part) {
        if (!Multiply::passes(scratch[i], part, limit)) continue;
        const unsigned left = first_row + (source >> 2) + Multiply::row_of(i);
        const unsigned right = first_column + (source & 3U) * 2 + Multiply::column_of(i, part);
        if (left >= right || right >= args.rows) continue;
        const std::uint64_t slot =
            atomicAdd(reinterpret_cast<unsigned long long*>(args.count), 1ULL);
        if (slot < args.capacity) args.candidates[slot] = {left, right};
      }
    }
    __syncwarp();
  }
}

#endif  // __CUDA_ARCH_FEAT_SM90_ALL

/// Sizes of the kernel for packed rows of `row_bytes`.
template <int row_bytes>
struct screen_shape {
  static constexpr screen_policy policy = select_screen_policy(row_bytes);
  static constexpr int depth = row_bytes;
  static constexpr int threads = policy.warpgroups * 128;
  static constexpr int tile_rows = policy.tile_rows;
  static constexpr int tile_bytes = tile_rows * depth;
  static constexpr int stages = policy.stages;
  static constexpr int row_blocks = policy.row_blocks;  // of a warpgroup
  static constexpr int block_bytes = screen_block_rows * depth;
  static constexpr int splits = tile_rows / 256;        // products of a row block with a tile
  static constexpr int products = row_blocks * splits;  // of a warpgroup with a tile
  static constexpr int panel = panel_rows(policy);
  static constexpr index_t panels = index_t{policy.chunk_tiles} * tile_rows / panel;  // of a chunk
  static constexpr std::size_t scratch_at =
      static_cast<std::size_t>(stages) * tile_bytes + static_cast<std::size_t>(panel) * depth;
  static constexpr std::size_t scratch_bytes = 512;  // of a warp, for the close look
  static constexpr std::size_t shared_bytes = scratch_at + threads / 32 * scratch_bytes;
};

#if defined(__CUDA_ARCH_FEAT_SM90_ALL)

/// settle() for a shape.
template <class shape>
__device__ __forceinline__ bool settle(const screen_arguments& args, screen_cursor& at) {
  return settle<shape::panel, shape::tile_rows, shape::policy.chunk_tiles>(args, at);
}

/// What thread 0 keeps between two tiles that it sends for. It is in shared memory, so that the
/// registers are left to the sums; `more` is volatile so that no other thread reads it ahead.
template <int stages>
struct screen_stream_state {
  screen_cursor at;
  ring_place<stages> place;
  volatile unsigned more;
};

template <class shape>
using screen_ring = copy_ring<shape::stages, shape::tile_bytes>;

/// Thread 0: sends for the next tile of the walk, once its stage is free.
template <class shape>
__device__ __forceinline__ void send_next(const screen_arguments& args,
                                          const screen_ring<shape>& ring,
                                          screen_stream_state<shape::stages>& state) {
  if (state.more == 0) return;
  screen_cursor at = state.at;
  ring_place<shape::stages> to = state.place;
  ring.fill(to, args.tiles + static_cast<std::size_t>(at.tile) * shape::tile_bytes);
  to.advance();
  state.place = to;
  if (++at.tile == at.last_tile) {
    at.item += gridDim.x;
    state.more = settle<shape>(args, at) ? 1 : 0;
  }
  state.at = at;
}

/// Thread 0: prepares the ring and sends for the first tiles.
template <class shape>
__device__ __forceinline__ void start_stream(const screen_arguments& args,
                                             const screen_ring<shape>& ring,
                                             screen_stream_state<shape::stages>& state) {
  ring.init(shape::policy.warpgroups);
  screen_cursor at{args.first_item + blockIdx.x, 0, 0, 0};
  state.more = settle<shape>(args, at) ? 1 : 0;
  state.at = at;
  state.place = {0, 0};
  for (int stage = 0; stage < shape::stages - 2; ++stage) send_next<shape>(args, ring, state);
}

/// Brings the warpgroup's left rows, packed rows from `first_row` on. They come as they lie in
/// memory, which is the layout that the operand needs.
template <class shape>
__device__ __forceinline__ void load_left_rows(const screen_arguments& args, unsigned first_row,
                                               std::uint8_t* left_rows, int warpgroup) {
  warpgroup_sync(warpgroup + 1);
  const auto* source = reinterpret_cast<const int4*>(
      args.tiles + static_cast<std::size_t>(first_row) * shape::depth);
  for (unsigned i = threadIdx.x & 127U; i < shape::row_blocks * shape::block_bytes / 16; i += 128) {
    reinterpret_cast<int4*>(left_rows)[i] = source[i];
  }
}

/// Bounds of all of the warpgroup's left rows.
template <class shape>
__device__ __forceinline__ screen_block bounds_of_left_rows(const screen_arguments& args,
                                                            unsigned first_row) {
  screen_block all = args.blocks[first_row / screen_block_rows];
#pragma unroll
  for (int x = 1; x < shape::row_blocks; ++x) {
    const screen_block block = args.blocks[first_row / screen_block_rows + x];
    all.smallest_norm = fminf(all.smallest_norm, block.smallest_norm);
    all.largest_error = fmaxf(all.largest_error, block.largest_error);
  }
  return all;
}

/// The sum of rounded rows that a pair at the cut reaches at least: |sum of rounded| >= |sum| -
/// norms (e_l + e_r + e_l e_r), by Cauchy and Schwarz.
__device__ __forceinline__ float find_least_sum(const screen_block& left, const screen_block& right,
                                                float cut, float sum_loss) {
  return left.smallest_norm * right.smallest_norm *
         (cut -
          (left.largest_error + right.largest_error + left.largest_error * right.largest_error) -
          sum_loss);
}

/// Writes the bias into the two free columns of the warpgroup's left rows.
template <class shape>
__device__ __forceinline__ void write_bias(std::uint8_t* left_rows, unsigned bias_bytes,
                                           int warpgroup) {
  const unsigned in_group = threadIdx.x & 127U;
  warpgroup_sync(warpgroup + 1);
  if (in_group >= 64) return;
#pragma unroll
  for (int x = 0; x < shape::row_blocks; ++x) {
    std::uint8_t* row =
        left_rows + x * shape::block_bytes + (in_group / 8) * 256 + (in_group % 8) * 16;
    *reinterpret_cast<std::uint16_t*>(row + 128 + 14) = static_cast<std::uint16_t>(bias_bytes);
  }
}

/// The warpgroup's left rows, and the right rows of the first stage.
struct screen_operands {
  std::uint64_t left;
  std::uint64_t right;
};

/// Starts product `number` of a tile: a row block of the left rows with 256 rows of the tile.
template <class shape, class multiply>
__device__ __forceinline__ void issue_product(int number, const screen_operands& operands,
                                              unsigned stage,
                                              typename multiply::sum (&sums)[multiply::sums]) {
  const int row_block = number / shape::splits;
  const int split = number % shape::splits;
  pin_registers(sums);
  wgmma_fence();
  multiply::multiply(
      sums, operands.left + static_cast<std::uint64_t>(row_block * (shape::block_bytes >> 4)),
      operands.right + ((stage * shape::tile_bytes + split * 256 * shape::depth) >> 4));
  wgmma_commit();
}

/// Waits for product `number` of a tile. Where there are two sets of sums, the next product is
/// started first.
template <class shape, class multiply>
__device__ __forceinline__ void finish_product(
    int number, const screen_operands& operands, unsigned stage,
    typename multiply::sum (&sums)[multiply::sets][multiply::sums]) {
  if constexpr (multiply::sets == 2) {
    if (number + 1 < shape::products) {
      issue_product<shape, multiply>(number + 1, operands, stage, sums[(number + 1) & 1]);
      wgmma_wait<1>();
    } else {
      wgmma_wait<0>();
    }
  } else {
    issue_product<shape, multiply>(number, operands, stage, sums[0]);
    wgmma_wait<0>();
  }
}

/// Multiplies the warpgroup's left rows, packed rows from `first_row` on, by a tile and collects
/// the pairs past the limit. Releases the stage after the last product.
template <class shape, class multiply>
__device__ __forceinline__ void screen_tile(
    const screen_arguments& args, const screen_ring<shape>& ring, const screen_operands& operands,
    unsigned stage, screen_stream_state<shape::stages>& stream,
    typename multiply::sum (&sums)[multiply::sets][multiply::sums], unsigned limit,
    unsigned first_row, int tile, typename multiply::sum* scratch) {
  const unsigned in_group = threadIdx.x & 127U;
  if constexpr (multiply::sets == 2) issue_product<shape, multiply>(0, operands, stage, sums[0]);
  if (threadIdx.x == 0) send_next<shape>(args, ring, stream);
  __syncwarp();
#pragma unroll
  for (int number = 0; number < shape::products; ++number) {
    finish_product<shape, multiply>(number, operands, stage, sums);
    auto& ready = sums[multiply::sets == 2 ? number & 1 : 0];
    pin_registers(ready);
    if (number + 1 == shape::products && in_group == 0) ring.release(stage);
    const bool hit = multiply::any(ready, limit);
    if (__any_sync(~0U, hit)) {
      const auto row_block = static_cast<unsigned>(number / shape::splits);
      collect<multiply>(
          args, ready, hit, limit, first_row + row_block * 64 + (in_group >> 5) * 16,
          static_cast<unsigned>(tile * shape::tile_rows + (number % shape::splits) * 256), scratch);
    }
  }
}

#endif  // __CUDA_ARCH_FEAT_SM90_ALL

template <screen_operand operand, int depth>
__global__ void __launch_bounds__(screen_shape<depth>::threads, 1)
    pair_screen_kernel(const __grid_constant__ screen_arguments args) {
#if defined(__CUDA_ARCH_FEAT_SM90_ALL)
  using shape = screen_shape<depth>;
  using multiply = screen_multiply<operand, depth>;
  static_assert(multiply::sets == 1 || shape::products % 2 == 0);
  constexpr int left_bytes = shape::row_blocks * shape::block_bytes;  // of a warpgroup

  extern __shared__ __align__(1024) std::uint8_t shared[];
  __shared__ __align__(8) std::uint64_t barriers[2 * shape::stages];  // full, then empty
  __shared__ screen_stream_state<shape::stages> stream;
  const int warpgroup = __shfl_sync(~0U, static_cast<int>(threadIdx.x >> 7), 0);
  const screen_ring<shape> ring{shared_address(shared), shared_address(barriers)};
  std::uint8_t* left_rows = shared + shape::stages * shape::tile_bytes + warpgroup * left_bytes;
  auto* scratch = reinterpret_cast<typename multiply::sum*>(
      shared + shape::scratch_at + (threadIdx.x >> 5) * shape::scratch_bytes);
  if (threadIdx.x == 0) start_stream<shape>(args, ring, stream);
  __syncthreads();

  const screen_operands operands{operand_descriptor(shared_address(left_rows), depth),
                                 operand_descriptor(ring.first_stage, depth)};
  typename multiply::sum sums[multiply::sets][multiply::sums];
  ring_place<shape::stages> place{0, 0};
  screen_cursor at{args.first_item + blockIdx.x, 0, 0, 0};
  for (; settle<shape>(args, at); at.item += gridDim.x) {
    const unsigned first_row =
        static_cast<unsigned>((at.item - items_before(args.walk, at.chunk, shape::panels)) *
                              shape::panel) +
        static_cast<unsigned>(warpgroup * shape::row_blocks * screen_block_rows);
    load_left_rows<shape>(args, first_row, left_rows, warpgroup);
    const screen_block left_bounds = bounds_of_left_rows<shape>(args, first_row);
    screen_block tile_bounds = args.tile_bounds[at.tile];
    unsigned written_bias = ~0U;
    bool fresh = true;  // left rows, or their bias
#pragma unroll 1
    for (int tile = at.tile; tile < at.last_tile; ++tile) {
      const screen_threshold threshold = multiply::threshold(
          find_least_sum(left_bounds, tile_bounds, args.cut, multiply::sum_loss));
      if (multiply::biased && threshold.bias_bytes != written_bias) {
        written_bias = threshold.bias_bytes;
        write_bias<shape>(left_rows, written_bias, warpgroup);
        fresh = true;
      }
      if (fresh) {
        async_proxy_fence();
        warpgroup_sync(warpgroup + 1);
        fresh = false;
      }
      tile_bounds = args.tile_bounds[tile + 1];
      ring.wait_until_full(place);
      screen_tile<shape, multiply>(args, ring, operands, place.stage, stream, sums, threshold.limit,
                                   first_row, tile, scratch);
      place.advance();
    }
  }
#endif
}

}  // namespace gpu::kernels
