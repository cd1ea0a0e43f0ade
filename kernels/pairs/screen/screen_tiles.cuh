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
// Shared memory (kernels/common/warpgroup_stream.cuh has the picture): ring, panel and 512 bytes a
// warp for the close look; 1 block a multiprocessor.

#include <cstdint>

#include "kernels/common/panel_products.cuh"
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
  screen_candidates candidates;
};

/// Items of the chunks before `chunk`, where a chunk has as many rows as `panels` panels.
__host__ __device__ constexpr index_t items_before(const screen_walk& walk, index_t chunk,
                                                   index_t panels) {
  const index_t growing = chunk < walk.growing_chunks ? chunk : walk.growing_chunks;
  return panels * (growing * (growing + 1) / 2) + (chunk - growing) * walk.left_panels;
}

#if defined(__CUDA_ARCH_FEAT_SM90_ALL)

/// Whether there are more candidates than a launch that stops has places for. All lanes of a warp.
__device__ __forceinline__ bool is_over(const screen_candidates& candidates) {
  const auto* const count = static_cast<const volatile unsigned long long*>(
      reinterpret_cast<const unsigned long long*>(candidates.count));
  const bool is_over = *count > candidates.capacity;
  return __any_sync(~0U, is_over);
}

/// The same before any has been looked for. All threads of a block, which all get one answer.
__device__ __forceinline__ bool is_over_at_start(const screen_candidates& candidates) {
  return __syncthreads_or(threadIdx.x < 32 && is_over(candidates) ? 1 : 0) != 0;
}

/// The close look of one warp at its sums, of which lanes with `hit` hold at least one that passed:
/// one such lane at a time puts its sums into shared memory and the whole warp tests them, so that
/// the rare path neither indexes registers nor walks through them one by one.
template <class Multiply, bool stops>
__device__ __forceinline__ void collect(const screen_arguments& args,
                                        const typename Multiply::sum (&d)[Multiply::sums], bool hit,
                                        unsigned limit, unsigned first_row, unsigned first_column,
                                        typename Multiply::sum* scratch) {
  const unsigned lane = threadIdx.x & 31U;
  if constexpr (stops) {
    if (is_over(args.candidates)) return;
  }
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
            atomicAdd(reinterpret_cast<unsigned long long*>(args.candidates.count), 1ULL);
        if (slot < args.candidates.capacity) args.candidates.list[slot] = {left, right};
      }
    }
    __syncwarp();
  }
}

#endif  // __CUDA_ARCH_FEAT_SM90_ALL

/// Sizes of the kernel for packed rows of `row_bytes`.
template <int row_bytes>
struct screen_shape : panel_shape<select_screen_policy(row_bytes), row_bytes> {
  using base = panel_shape<select_screen_policy(row_bytes), row_bytes>;
  static constexpr int chunk_tiles = select_screen_policy(row_bytes).chunk_tiles;
  static constexpr index_t panels = index_t{chunk_tiles} * base::tile_rows / base::panel;  // of one
  static constexpr std::size_t scratch_bytes = 512;  // of a warp, for the close look
  static constexpr std::size_t scratch_at = base::shared_bytes;
  static constexpr std::size_t shared_bytes = scratch_at + base::threads / 32 * scratch_bytes;
};

#if defined(__CUDA_ARCH_FEAT_SM90_ALL)

/// The right rows that a block streams: the tiles of its items on or above the diagonal.
template <class shape>
struct screen_tile_walk : tile_walk<shape> {
  struct cursor {
    index_t item;
    index_t chunk;
    tile_range tiles;
  };

  const screen_arguments& args;

  __device__ __forceinline__ index_t first_item() const { return args.first_item; }
  __device__ __forceinline__ bool locate(cursor& at) const {
    for (; at.item < args.last_item; at.item += gridDim.x) {
      while (at.item >= items_before(args.walk, at.chunk + 1, shape::panels)) ++at.chunk;
      const index_t row = panel_of(at) * shape::panel;
      const index_t first = args.first_tile + at.chunk * shape::chunk_tiles;
      at.tiles.next = static_cast<int>(max(first, row / shape::tile_rows));
      at.tiles.end =
          static_cast<int>(min(first + shape::chunk_tiles, static_cast<index_t>(args.tile_count)));
      if (at.tiles.next < at.tiles.end) return true;
    }
    return false;
  }
  /// The panel of left rows of an item.
  __device__ __forceinline__ index_t panel_of(const cursor& at) const {
    return at.item - items_before(args.walk, at.chunk, shape::panels);
  }
};

template <class shape>
using screen_stream = warpgroup_stream<screen_tile_walk<shape>>;

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

/// Where columns 30 and 31 of a row of 32 columns are from its columns 0 to 15 on: at the end of
/// its 16 bytes in the second of the two core matrices of its eight rows.
inline constexpr int core_matrix_bytes = 8 * 16;
inline constexpr int bias_columns_at = core_matrix_bytes + screen_bias_columns % 16;

/// Writes the bias into the two free columns of the warpgroup's left rows.
template <class shape>
__device__ __forceinline__ void write_bias(const resident_operand& left_rows, unsigned bias_bytes) {
  const unsigned in_group = threadIdx.x & 127U;
  left_rows.begin_writes();
  if (in_group >= screen_block_rows) return;
#pragma unroll
  for (int x = 0; x < shape::row_blocks; ++x) {
    std::uint8_t* row = left_rows.memory + x * shape::block_bytes +
                        (in_group / 8) * (2 * core_matrix_bytes) + (in_group % 8) * 16;
    *reinterpret_cast<std::uint16_t*>(row + bias_columns_at) =
        static_cast<std::uint16_t>(bias_bytes);
  }
}

/// Multiplies the warpgroup's left rows, packed rows from `first_row` on, by a tile and collects
/// the pairs past the limit. Releases the stage after the last product.
template <class shape, class multiply, bool stops>
__device__ __forceinline__ void screen_tile(
    const screen_stream<shape>& stream, const panel_operands& operands, unsigned stage,
    typename multiply::sum (&sums)[multiply::sets][multiply::sums], unsigned limit,
    unsigned first_row, int tile, typename multiply::sum* scratch) {
  const unsigned warp_row = (threadIdx.x & 127U) / 32 * 16;
  multiply_tile<shape>(stream, operands, stage, sums, multiply{}, [&](int number, auto& ready) {
    const bool hit = multiply::any(ready, limit);
    if (!__any_sync(~0U, hit)) return;
    const auto row_block = static_cast<unsigned>(number / shape::splits);
    collect<multiply, stops>(
        stream.walk.args, ready, hit, limit, first_row + row_block * 64 + warp_row,
        static_cast<unsigned>(tile) * shape::tile_rows + (number % shape::splits) * 256, scratch);
  });
}

#endif  // __CUDA_ARCH_FEAT_SM90_ALL

/// One that stops (screen_candidates) has a look at their number whenever it finds any, which costs
/// registers: so it is a kernel of its own.
template <screen_operand operand, int depth, bool stops>
__global__ void __launch_bounds__(screen_shape<depth>::threads, 1)
    pair_screen_kernel(const __grid_constant__ screen_arguments args) {
#if defined(__CUDA_ARCH_FEAT_SM90_ALL)
  using shape = screen_shape<depth>;
  using multiply = screen_multiply<operand, depth>;
  using walk_type = screen_tile_walk<shape>;
  extern __shared__ __align__(1024) std::uint8_t shared[];
  __shared__ stream_storage<walk_type> storage;
  if constexpr (stops) {
    if (is_over_at_start(args.candidates)) return;
  }
  const int warpgroup = __shfl_sync(~0U, static_cast<int>(threadIdx.x >> 7), 0);
  const walk_type walk{{args.tiles}, args};
  const screen_stream<shape> stream{walk, shared_address(shared), storage};
  const resident_operand left_rows{shared + shape::left_at + warpgroup * shape::left_bytes,
                                   warpgroup};
  auto* scratch = reinterpret_cast<typename multiply::sum*>(
      shared + shape::scratch_at + (threadIdx.x >> 5) * shape::scratch_bytes);
  stream.start();

  const panel_operands operands{operand_descriptor(shared_address(left_rows.memory), depth),
                                operand_descriptor(stream.first_stage, depth)};
  typename multiply::sum sums[multiply::sets][multiply::sums];
  ring_position<shape::stages> position{0, 0};
  for (auto at = stream.first_item(); walk.locate(at); stream.next_item(at)) {
    const unsigned first_row =
        static_cast<unsigned>(walk.panel_of(at) * shape::panel) +
        static_cast<unsigned>(warpgroup * shape::row_blocks * screen_block_rows);
    left_rows.copy<shape::left_bytes>(args.tiles + static_cast<std::size_t>(first_row) * depth);
    const screen_block left_bounds = bounds_of_left_rows<shape>(args, first_row);
    screen_block tile_bounds = args.tile_bounds[at.tiles.next];
    unsigned written_bias = ~0U;
    bool written = true;  // left rows or their bias, since they were published
#pragma unroll 1
    for (int tile = at.tiles.next; tile < at.tiles.end; ++tile) {
      const screen_threshold threshold = multiply::threshold(
          find_least_sum(left_bounds, tile_bounds, args.cut, multiply::sum_loss));
      if (multiply::biased && threshold.bias_bytes != written_bias) {
        written_bias = threshold.bias_bytes;
        write_bias<shape>(left_rows, written_bias);
        written = true;
      }
      if (written) {
        left_rows.publish();
        written = false;
      }
      tile_bounds = args.tile_bounds[tile + 1];
      stream.wait_until_full(position);
      screen_tile<shape, multiply, stops>(stream, operands, position.stage, sums, threshold.limit,
                                          first_row, tile, scratch);
      position.advance();
    }
  }
#endif
}

// One launch per operand type, and of wide rows, each compiled in a file of its own.
template <screen_operand operand>
void launch_pair_screen(int depth, const screen_arguments& args, int multiprocessors,
                        cudaStream_t stream);
void launch_pair_screen_wide(const screen_rows& packed, const screen_arguments& common,
                             int multiprocessors, cudaStream_t stream);
index_t wide_screen_items(const screen_rows& packed);

}  // namespace gpu::kernels
