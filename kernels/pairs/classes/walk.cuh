#pragma once
// The order in which the blocks of the pair count take their work, and the stream of left rows that
// this order sends through shared memory.

#include <cstdint>

#include "kernels/common/panel_products.cuh"
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

/// The left rows of all items of a block, tile by tile, in the order in which the block reads them.
template <int depth>
struct count_tile_walk : tile_walk<count_ring<depth>> {
  static_assert(count_ring<depth>::tile_rows == count_block_rows, "a tile is a block");
  using cursor = count_cursor;

  const count_arguments& args;

  __device__ __forceinline__ index_t first_item() const { return args.first_item; }
  __device__ __forceinline__ bool locate(cursor& at) const {
    if (at.item >= min(args.last_item, args.packed.extents->items)) return false;
    while (at.item >= args.packed.items_before[at.chunk + 1]) ++at.chunk;
    at.panel = args.packed.panels[args.packed.first_panel[at.chunk] +
                                  (at.item - args.packed.items_before[at.chunk])];
    const int past = static_cast<int>(
        min(at.panel.first_block + at.panel.blocks, args.packed.extents->left_blocks));
    const int chunk_blocks = static_cast<int>(args.packed.extents->chunk_blocks);
    at.first_block = at.chunk * chunk_blocks;
    at.blocks = min(chunk_blocks, past - at.first_block);
    return true;
  }
  __device__ __forceinline__ tile_range first_load(const cursor& at) const {
    return {at.first_block, at.first_block + at.blocks};
  }
};

template <int depth>
using count_stream = warpgroup_stream<count_tile_walk<depth>>;

#endif  // __CUDA_ARCH_FEAT_SM90_ALL

}  // namespace gpu::kernels
