#pragma once
// The unit count: kept pairs of unit rows per row, from products in half precision.
//
// A product is off by at most an error that is known beforehand (what rounding takes from the rows,
// by Cauchy and Schwarz, and the roundings of the sums). So it tells what is kept for certain, and
// what may be kept; the pairs between are undecided and go to a list (undecided.cuh) that a second
// kernel decides exactly. They are about one pair in a thousand, of corrected rows (kernels.hpp)
// one in 17,000.
//
// Block. 3 warpgroups. A block holds 3 x 256 right rows in shared memory, 256 for each warpgroup,
// and streams a chunk of the left rows past them through a ring. A step multiplies 64 left rows by
// 256 right rows (wgmma, half precision, single-precision sums); a thread then holds the sums of 2
// rows x 64 columns.
//
// Epilogue. A sum is compared by subtractions whose signs a funnel shift collects into words of 32
// decisions (step.cuh). A NaN, which marks rows without a statistic and padding, has no sign: it is
// dropped. Rows and columns are counted as in the count by classes (classes/step.cuh, columns.cuh).
//
// Rows have packed positions (neighbors/packing.hpp), those of the left side first; pairs are taken
// once, by ascending position, and left rows end with their side.
// Order of work: items walk chunk by chunk, so that all blocks of the device read one chunk of left
// rows, which stays in L2. Shared memory: ring, right rows, lists; one block a multiprocessor.

#include <cstdint>

#include "kernels/pairs/unit_counts/tile.cuh"

namespace gpu::kernels {

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

/// Counts the item at the cursor: its left rows, tile by tile, against its right blocks.
template <class shape, bool symmetric>
__device__ __forceinline__ void count_unit_item(const step_cut& cut, const unit_ring<shape>& ring,
                                                unit_stream_state<shape::stages>& stream,
                                                const unit_count_cursor& at, int my_block,
                                                const unit_operands& operands,
                                                ring_place<shape::stages>& place,
                                                unit_step_sink& sink) {
  const auto first_right = static_cast<std::uint32_t>(my_block * shape::block_rows);
  int column_steps = 0;
  float sums[128];
#pragma unroll 1
  for (int tile = at.first_block * shape::block_tiles; tile < at.last_block * shape::block_tiles;
       ++tile) {
    ring.wait_until_full(place);
    if (threadIdx.x == 0) send_next<shape>(sink.args, ring, stream);
    __syncwarp();
    const int ahead = my_block - tile / shape::block_tiles;  // 0: on the diagonal
    if (ahead < 0) {
      if ((threadIdx.x & 127U) == 0) ring.release(place.stage);
      place.advance();
      continue;
    }
    const unit_tile of{tile, place.stage, ahead == 0, first_right};
    if constexpr (shape::corrected) {
      count_corrected_tile<shape, symmetric>(cut, ring, of, operands, sink);
    } else {
      count_plain_tile<shape, symmetric>(cut, ring, of, operands, sums, sink);
    }
    column_steps += shape::tile_steps;
    if (column_steps > column_counts::most_steps - shape::tile_steps) {
      sink.columns.flush(sink.args.count.degree + first_right);
      column_steps = 0;
    }
    place.advance();
  }
  if (column_steps != 0) sink.columns.flush(sink.args.count.degree + first_right);
}

#endif  // __CUDA_ARCH_FEAT_SM90_ALL

template <class shape, bool symmetric>
__global__ void __launch_bounds__(shape::threads, 1)
    unit_count_kernel(const __grid_constant__ unit_count_arguments args) {
#if defined(__CUDA_ARCH_FEAT_SM90_ALL)
  extern __shared__ __align__(1024) std::uint8_t shared[];
  __shared__ __align__(8) std::uint64_t barriers[2 * shape::stages];
  __shared__ unit_stream_state<shape::stages> stream;
  const int warpgroup = __shfl_sync(~0U, static_cast<int>(threadIdx.x >> 7), 0);
  const unit_ring<shape> ring{shared_address(shared), shared_address(barriers)};
  std::uint8_t* right_rows =
      shared + shape::stages * shape::tile_bytes + warpgroup * shape::block_bytes;
  if (threadIdx.x == 0) start_stream<shape>(args, ring, stream);
  __syncthreads();

  constexpr int right_depth = shape::corrected ? 2 * shape::depth : shape::depth;
  const unit_operands operands{operand_descriptor(ring.first_stage, shape::depth),
                               operand_descriptor(shared_address(right_rows), right_depth)};
  const cut_estimate& estimate = args.count.cut->estimate;
  const step_cut cut{estimate.middle, estimate.possible, estimate.certain};
  unit_step_sink sink{args, find_lane(),
                      undecided_list(reinterpret_cast<undecided_list::storage*>(
                          shared + shape::lists_at)[threadIdx.x / 32]),
                      column_counts{}};
  ring_place<shape::stages> place{0, 0};
  unit_count_cursor at{.item = args.first_item + blockIdx.x};
  for (; locate_item<shape>(args, at); at.item += gridDim.x) {
    const int my_block = at.panel_block + warpgroup;
    load_unit_rows<shape>(args.count.packed.left.tiles, my_block, right_rows, warpgroup);
    count_unit_item<shape, symmetric>(cut, ring, stream, at, my_block, operands, place, sink);
  }
  sink.list.flush(args);
#endif
}

}  // namespace gpu::kernels
