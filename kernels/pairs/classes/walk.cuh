#pragma once
// The order in which the blocks of the pair count take their work, and the stream of left rows that
// this order sends through shared memory.

#include <cstdint>

#include "kernels/common/bulk_copy.cuh"
#include "kernels/pairs/classes/arguments.cuh"

namespace gpu::kernels {

#if defined(__CUDA_ARCH_FEAT_SM90_ALL)

/// A position in the walk over items. An item is one panel of right rows and one chunk of left
/// rows.
struct count_cursor {
  index_t item;
  int chunk;
  int first_block;  // of the left rows
  int blocks;       // of left rows in the item
  count_panel panel;
};

/// Fills in the chunk and the panel of at.item. Returns false at the end of the work.
__device__ __forceinline__ bool locate_item(const count_arguments& args, count_cursor& at) {
  if (at.item >= min(args.last_item, args.extents->items)) return false;
  while (at.item >= args.items_before[at.chunk + 1]) ++at.chunk;
  at.panel = args.panels[args.first_panel[at.chunk] + (at.item - args.items_before[at.chunk])];
  const int past =
      static_cast<int>(min(at.panel.first_block + at.panel.blocks, args.extents->left_blocks));
  const int chunk_blocks = static_cast<int>(args.extents->chunk_blocks);
  at.first_block = at.chunk * chunk_blocks;
  at.blocks = min(chunk_blocks, past - at.first_block);
  return true;
}

/// What thread 0 keeps between two tiles that it sends for. It is in shared memory, so that the
/// registers are left to the sums; members are volatile so that no other thread reads them ahead.
struct count_stream_state {
  count_cursor at;
  volatile int tile;  // the next one
  volatile int left;  // tiles of the item that are still to come
  volatile unsigned stage;
  volatile unsigned parity;
};

/// The left rows of all items of a block, tile by tile, in the order in which the block reads them.
/// Thread 0 alone calls start() and send_next().
template <int depth>
struct count_stream {
  using shape = count_ring<depth>;
  static constexpr int tile_bytes = shape::tile_rows * depth;
  static constexpr int block_tiles = count_block_rows / shape::tile_rows;

  const count_arguments& args;
  count_stream_state& state;
  unsigned ring;      // address of the first stage
  unsigned barriers;  // address of those of the full stages, then those of the empty ones

  __device__ __forceinline__ unsigned full(unsigned stage) const { return barriers + stage * 8; }
  __device__ __forceinline__ unsigned empty(unsigned stage) const {
    return barriers + (shape::stages + stage) * 8;
  }

  __device__ __forceinline__ void start() const {
    for (unsigned stage = 0; stage < shape::stages; ++stage) {
      barrier_init(full(stage), 1);
      barrier_init(empty(stage), count_panel_blocks);
    }
    barrier_init_fence();
    count_cursor at{.item = args.first_item + blockIdx.x};
    state.left = 0;
    if (locate_item(args, at)) aim(at);
    state.at = at;
    state.stage = 0;
    state.parity = 0;
    for (int stage = 0; stage < shape::stages - 2; ++stage) send_next();
  }

  /// Sends for the next tile of the walk, once its stage is free.
  __device__ __forceinline__ void send_next() const {
    const int left = state.left;
    if (left == 0) return;
    const unsigned stage = state.stage;
    const unsigned parity = state.parity;
    const int tile = state.tile;
    barrier_wait(empty(stage), parity ^ 1U);
    barrier_expect(full(stage), tile_bytes);
    bulk_copy(ring + stage * tile_bytes, args.tiles + static_cast<std::size_t>(tile) * tile_bytes,
              tile_bytes, full(stage));
    state.stage = stage + 1 == shape::stages ? 0 : stage + 1;
    state.parity = stage + 1 == shape::stages ? parity ^ 1U : parity;
    state.tile = tile + 1;
    state.left = left - 1;
    if (left == 1) {
      count_cursor at = state.at;
      at.item += gridDim.x;
      if (locate_item(args, at)) aim(at);
      state.at = at;
    }
  }

 private:
  __device__ __forceinline__ void aim(const count_cursor& at) const {
    state.tile = at.first_block * block_tiles;
    state.left = at.blocks * block_tiles;
  }
};

#endif  // __CUDA_ARCH_FEAT_SM90_ALL

}  // namespace gpu::kernels
