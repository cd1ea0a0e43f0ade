#pragma once
// The unit count: kept pairs of unit rows per row, from products in half precision.
//
// A product is off by at most an error that is known beforehand (what rounding takes from the rows,
// by Cauchy and Schwarz, and the roundings of the sums). So one comparison tells what is kept for
// certain, another what may be kept; the pairs between, about one in a thousand, are undecided and
// go to a list (undecided.cuh) that a second kernel decides exactly.
//
// Block. 3 warpgroups. A block holds 3 x 256 right rows in shared memory, 256 for each warpgroup,
// and streams a chunk of the left rows past them through a ring. A step multiplies 64 left rows by
// 256 right rows (wgmma, half precision, single-precision sums); a thread then holds the sums of 2
// rows x 64 columns.
//
// Epilogue. A sum is compared by two subtractions whose signs a funnel shift collects into words of
// 32 decisions. A NaN, which marks rows without a statistic and padding, has no sign: it is
// dropped. Rows and columns are counted as in the count by classes (classes/step.cuh, columns.cuh).
//
// Rows have packed positions (neighbors/packing.hpp), those of the left side first; pairs are taken
// once, by ascending position, and left rows end with their side.
// Order of work: items walk chunk by chunk, so that all blocks of the device read one chunk of left
// rows, which stays in L2. Shared memory: ring, right rows, lists; one block a multiprocessor.

#include <cstdint>

#include "kernels/common/bulk_copy.cuh"
#include "kernels/common/wgmma.cuh"
#include "kernels/pairs/classes/columns.cuh"
#include "kernels/pairs/classes/step.cuh"
#include "kernels/pairs/unit_counts/undecided.cuh"

namespace gpu::kernels {

/// Sizes of the kernel for packed rows of `row_bytes`.
template <int row_bytes>
struct unit_count_shape {
  static constexpr int depth = row_bytes;
  static constexpr int warpgroups = 3;
  static constexpr int threads = warpgroups * 128;
  static constexpr int block_rows = 256;  // of a warpgroup, and of a block of left rows
  static constexpr int block_bytes = block_rows * depth;
  static constexpr int chunk_blocks = 64;  // of left rows in an item
  static constexpr int tile_rows = depth <= 64 ? 256 : (depth <= 128 ? 128 : 64);
  static constexpr int tile_bytes = tile_rows * depth;
  static constexpr int tile_steps = tile_rows / 64;
  static constexpr int block_tiles = block_rows / tile_rows;
  static constexpr int stages = 4;
  static constexpr std::size_t lists_at =
      static_cast<std::size_t>(stages) * tile_bytes + std::size_t{warpgroups} * block_bytes;
  static constexpr std::size_t shared_bytes =
      lists_at + threads / 32 * sizeof(undecided_list::storage);
};

/// A position in the walk over items: a chunk of left blocks, and three right blocks. The items of
/// a chunk are the panels that reach past its start.
struct unit_count_cursor {
  index_t item;
  index_t first_item;  // of the chunk
  int chunk;
  int first_block;  // of left rows
  int last_block;
  int panel_block;  // the first of right rows
};

#if defined(__CUDA_ARCH_FEAT_SM90_ALL)

/// The first panel that a chunk of left rows meets.
template <class shape>
__device__ __forceinline__ int find_first_panel(const unit_count_arguments& args, int chunk) {
  const int block = args.count.packed.within ? chunk * shape::chunk_blocks : args.left_blocks;
  return block / shape::warpgroups;
}

/// Fills in the chunk and the panel of at.item. Returns false at the end of the work.
template <class shape>
__device__ __forceinline__ bool locate_item(const unit_count_arguments& args,
                                            unit_count_cursor& at) {
  if (at.item >= args.last_item) return false;
  const int panels = args.blocks / shape::warpgroups;
  int first_panel = find_first_panel<shape>(args, at.chunk);
  while (at.item - at.first_item >= panels - first_panel) {
    at.first_item += panels - first_panel;
    ++at.chunk;
    first_panel = find_first_panel<shape>(args, at.chunk);
  }
  const int panel = first_panel + static_cast<int>(at.item - at.first_item);
  at.first_block = at.chunk * shape::chunk_blocks;
  at.panel_block = panel * shape::warpgroups;
  at.last_block = min(min(at.first_block + shape::chunk_blocks, at.panel_block + shape::warpgroups),
                      args.left_blocks);
  return true;
}

/// What thread 0 keeps between two tiles that it sends for. It is in shared memory, so that the
/// registers are left to the sums; `left` is volatile so that no other thread reads it ahead.
template <int stages>
struct unit_stream_state {
  unit_count_cursor at;
  int tile;           // the next one
  volatile int left;  // tiles of the item that are still to come
  ring_place<stages> place;
};

template <class shape>
using unit_ring = copy_ring<shape::stages, shape::tile_bytes>;

/// Thread 0: takes the tiles of the item at the cursor, or the next items', into the stream.
template <class shape>
__device__ __forceinline__ void aim(const unit_count_arguments& args, unit_count_cursor at,
                                    unit_stream_state<shape::stages>& state) {
  if (locate_item<shape>(args, at)) {
    state.tile = at.first_block * shape::block_tiles;
    state.left = (at.last_block - at.first_block) * shape::block_tiles;
  }
  state.at = at;
}

/// Thread 0: sends for the next tile of the walk, once its stage is free.
template <class shape>
__device__ __forceinline__ void send_next(const unit_count_arguments& args,
                                          const unit_ring<shape>& ring,
                                          unit_stream_state<shape::stages>& state) {
  const int left = state.left;
  if (left == 0) return;
  ring_place<shape::stages> to = state.place;
  ring.fill(
      to, args.count.packed.left.tiles + static_cast<std::size_t>(state.tile) * shape::tile_bytes);
  to.advance();
  state.place = to;
  state.tile += 1;
  state.left = left - 1;
  if (left == 1) {
    unit_count_cursor at = state.at;
    at.item += gridDim.x;
    aim<shape>(args, at, state);
  }
}

/// Brings the warpgroup's 256 right rows.
template <class shape>
__device__ __forceinline__ void load_unit_rows(const std::uint8_t* tiles, int block,
                                               std::uint8_t* right_rows, int warpgroup) {
  warpgroup_sync(warpgroup + 1);
  const auto* source =
      reinterpret_cast<const int4*>(tiles + static_cast<std::size_t>(block) * shape::block_bytes);
  for (unsigned i = threadIdx.x & 127U; i < shape::block_bytes / 16; i += 128) {
    reinterpret_cast<int4*>(right_rows)[i] = source[i];
  }
  async_proxy_fence();
  warpgroup_sync(warpgroup + 1);
}

/// sums = 64 left rows times 256 right rows.
template <int depth>
__device__ __forceinline__ void multiply_unit_rows(float (&sums)[128], std::uint64_t left,
                                                   std::uint64_t right) {
  pin_registers(sums);
  wgmma_fence();
#pragma unroll
  for (int k = 0; k < depth / 32; ++k) {
    wgmma_f16(sums, left + static_cast<std::uint64_t>(k * (256 >> 4)),
              right + static_cast<std::uint64_t>(k * (256 >> 4)), k);
  }
  wgmma_commit();
  wgmma_wait<0>();
  pin_registers(sums);
}

/// What the products say of a thread's pairs: kept for certain, and kept perhaps.
struct unit_decisions {
  decisions certain;
  decisions possible;
};

/// What a product is compared with: its distance from `middle` makes the pair possible or certain.
struct step_cut {
  float middle;
  float possible;
  float certain;
};

/// `symmetric`: cut.middle is 0.
template <bool symmetric>
__device__ __forceinline__ unit_decisions decide_products(const float (&sums)[128],
                                                          const step_cut& cut) {
  unit_decisions out{};
#pragma unroll
  for (int i = 0; i < 128; ++i) {
    const float distance = fabsf(symmetric ? sums[i] : sums[i] - cut.middle);
    unsigned& certain = out.certain.words[(i >> 1) & 1][i & 1];
    unsigned& possible = out.possible.words[(i >> 1) & 1][i & 1];
    certain = __funnelshift_l(__float_as_uint(cut.certain - distance), certain, 1);
    possible = __funnelshift_l(__float_as_uint(cut.possible - distance), possible, 1);
  }
  return out;
}

/// Gathers the pairs that are possible but not certain. `left` and `right`: positions of the
/// thread's first sum. All lanes call; in each round every lane that has such pairs adds a word of
/// them.
__device__ __forceinline__ void gather_undecided(const unit_count_arguments& args,
                                                 const unit_decisions& found, std::uint32_t left,
                                                 std::uint32_t right, undecided_list& list) {
  unsigned rest[4];  // word by word: half * 2 + parity
#pragma unroll
  for (int w = 0; w < 4; ++w) {
    rest[w] = found.possible.words[w / 2][w % 2] & ~found.certain.words[w / 2][w % 2];
  }
  while (__any_sync(~0U, (rest[0] | rest[1] | rest[2] | rest[3]) != 0)) {
    undecided_pairs pairs{};
#pragma unroll
    for (int w = 0; w < 4; ++w) {
      if (pairs.mask != 0 || rest[w] == 0) continue;
      pairs = {left + 8 * (w / 2), right + w % 2, rest[w]};
      rest[w] = 0;
    }
    list.add(args, pairs);
  }
}

/// Counts the kept pairs of a step from its sums. `on_diagonal`: both operands are the same rows,
/// and `row` is that of the thread's first sum among them. `left`, `right`: positions of the step's
/// first row and column.
template <bool symmetric>
__device__ __forceinline__ void count_unit_step(const unit_count_arguments& args,
                                                const step_cut& cut, const float (&sums)[128],
                                                const count_lane& lane, bool on_diagonal, int row,
                                                std::uint32_t left, std::uint32_t right,
                                                undecided_list& list, column_counts& columns) {
  unit_decisions found = decide_products<symmetric>(sums, cut);
  if (on_diagonal) {
    keep_upper(found.certain, row, lane.column);
    keep_upper(found.possible, row, lane.column);
  }
  gather_undecided(args, found, left + lane.row, right + lane.column, list);
  const unsigned rows = kept_in_rows(found.certain);
  columns.add(found.certain);
  add_row_counts(rows, args.count.degree + left, lane.counted_row);
}

/// Thread 0: prepares the ring and sends for the first tiles.
template <class shape>
__device__ __forceinline__ void start_stream(const unit_count_arguments& args,
                                             const unit_ring<shape>& ring,
                                             unit_stream_state<shape::stages>& state) {
  ring.init(shape::warpgroups);
  state.left = 0;
  state.place = {0, 0};
  aim<shape>(args, unit_count_cursor{.item = args.first_item + blockIdx.x}, state);
  for (int stage = 0; stage < shape::stages - 2; ++stage) send_next<shape>(args, ring, state);
}

/// The first stage of left rows, and the warpgroup's right rows.
struct unit_operands {
  std::uint64_t left;
  std::uint64_t right;
};

/// Multiplies a tile of left rows, which is in stage `stage` of the ring, by the warpgroup's right
/// rows, step by step, and counts. Releases the stage after the last product. `right`: position of
/// the first right row.
template <class shape, bool symmetric>
__device__ __forceinline__ void count_unit_tile(const unit_count_arguments& args,
                                                const step_cut& cut, const unit_ring<shape>& ring,
                                                unsigned stage, const unit_operands& operands,
                                                const count_lane& lane, float (&sums)[128],
                                                int tile, bool on_diagonal, std::uint32_t right,
                                                undecided_list& list, column_counts& columns) {
#pragma unroll 1
  for (int step = 0; step < shape::tile_steps; ++step) {
    multiply_unit_rows<shape::depth>(
        sums, operands.left + ((stage * shape::tile_bytes + step * 64 * shape::depth) >> 4),
        operands.right);
    if (step + 1 == shape::tile_steps && (threadIdx.x & 127U) == 0) ring.release(stage);
    const auto left = static_cast<std::uint32_t>(tile * shape::tile_rows + step * 64);
    const int row = (tile % shape::block_tiles * shape::tile_steps + step) * 64 + lane.row;
    count_unit_step<symmetric>(args, cut, sums, lane, on_diagonal, row, left, right, list, columns);
  }
}

/// Counts the item at the cursor: its left rows, tile by tile, against its right blocks.
template <class shape, bool symmetric>
__device__ __forceinline__ void count_unit_item(
    const unit_count_arguments& args, const step_cut& cut, const unit_ring<shape>& ring,
    unit_stream_state<shape::stages>& stream, const unit_count_cursor& at, int my_block,
    const unit_operands& operands, const count_lane& lane, float (&sums)[128],
    ring_place<shape::stages>& place, undecided_list& list, column_counts& columns) {
  const auto first_right = static_cast<std::uint32_t>(my_block * shape::block_rows);
  int column_steps = 0;
#pragma unroll 1
  for (int tile = at.first_block * shape::block_tiles; tile < at.last_block * shape::block_tiles;
       ++tile) {
    ring.wait_until_full(place);
    if (threadIdx.x == 0) send_next<shape>(args, ring, stream);
    __syncwarp();
    const int ahead = my_block - tile / shape::block_tiles;  // 0: on the diagonal
    if (ahead < 0) {
      if ((threadIdx.x & 127U) == 0) ring.release(place.stage);
      place.advance();
      continue;
    }
    count_unit_tile<shape, symmetric>(args, cut, ring, place.stage, operands, lane, sums, tile,
                                      ahead == 0, first_right, list, columns);
    column_steps += shape::tile_steps;
    if (column_steps > column_counts::most_steps - shape::tile_steps) {
      columns.flush(args.count.degree + first_right);
      column_steps = 0;
    }
    place.advance();
  }
  if (column_steps != 0) columns.flush(args.count.degree + first_right);
}

#endif  // __CUDA_ARCH_FEAT_SM90_ALL

template <int depth, bool symmetric>
__global__ void __launch_bounds__(unit_count_shape<depth>::threads, 1)
    unit_count_kernel(const __grid_constant__ unit_count_arguments args) {
#if defined(__CUDA_ARCH_FEAT_SM90_ALL)
  using shape = unit_count_shape<depth>;
  extern __shared__ __align__(1024) std::uint8_t shared[];
  __shared__ __align__(8) std::uint64_t barriers[2 * shape::stages];
  __shared__ unit_stream_state<shape::stages> stream;
  const int warpgroup = __shfl_sync(~0U, static_cast<int>(threadIdx.x >> 7), 0);
  const unit_ring<shape> ring{shared_address(shared), shared_address(barriers)};
  std::uint8_t* right_rows =
      shared + shape::stages * shape::tile_bytes + warpgroup * shape::block_bytes;
  undecided_list list(
      reinterpret_cast<undecided_list::storage*>(shared + shape::lists_at)[threadIdx.x / 32]);
  if (threadIdx.x == 0) start_stream<shape>(args, ring, stream);
  __syncthreads();

  const unit_operands operands{operand_descriptor(ring.first_stage, depth),
                               operand_descriptor(shared_address(right_rows), depth)};
  const count_lane lane = find_lane();
  const cut_estimate& estimate = args.count.cut->estimate;
  const step_cut cut{estimate.middle, estimate.possible, estimate.certain};
  float sums[128];
  column_counts columns{};
  ring_place<shape::stages> place{0, 0};
  unit_count_cursor at{.item = args.first_item + blockIdx.x};
  for (; locate_item<shape>(args, at); at.item += gridDim.x) {
    const int my_block = at.panel_block + warpgroup;
    load_unit_rows<shape>(args.count.packed.left.tiles, my_block, right_rows, warpgroup);
    count_unit_item<shape, symmetric>(args, cut, ring, stream, at, my_block, operands, lane, sums,
                                      place, list, columns);
  }
  list.flush(args);
#endif
}

}  // namespace gpu::kernels
