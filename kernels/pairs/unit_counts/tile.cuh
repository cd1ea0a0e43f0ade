#pragma once
// A tile of left rows in the unit count: multiplied by the right rows of a warpgroup step by step,
// and decided.
//
// Plain rows: a step is multiplied, then decided.
//
// Corrected rows: a step is two products, of the even and the odd groups of eight right rows. The
// tensor cores work on one while the other is decided.

#include "kernels/common/panel_products.cuh"
#include "kernels/pairs/unit_counts/step.cuh"

namespace gpu::kernels {

/// Sizes of the kernel for packed rows of `row_bytes`, corrected or not.
template <int row_bytes, bool with_correction>
struct unit_count_shape {
  static constexpr int depth = row_bytes;
  static constexpr bool corrected = with_correction;
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

#if defined(__CUDA_ARCH_FEAT_SM90_ALL)

/// A position in the walk over items: a chunk of left blocks, and three right blocks. The items of
/// a chunk are the panels that reach past its start.
struct unit_count_cursor {
  index_t item;
  index_t first_item;  // of the chunk
  int chunk;
  int panel_block;   // the first of right rows
  tile_range tiles;  // of left rows
};

/// The left rows that a block streams: the tiles of each item's chunk, as far as its panel reaches.
template <class shape>
struct unit_tile_walk : tile_walk<shape> {
  using cursor = unit_count_cursor;

  const unit_count_arguments& args;

  __device__ __forceinline__ index_t first_item() const { return args.first_item; }
  __device__ __forceinline__ bool locate(cursor& at) const {
    if (at.item >= args.last_item) return false;
    const int panels = args.blocks / shape::warpgroups;
    int first_panel = first_panel_of(at.chunk);
    while (at.item - at.first_item >= panels - first_panel) {
      at.first_item += panels - first_panel;
      ++at.chunk;
      first_panel = first_panel_of(at.chunk);
    }
    const int panel = first_panel + static_cast<int>(at.item - at.first_item);
    at.panel_block = panel * shape::warpgroups;
    const int first_block = at.chunk * shape::chunk_blocks;
    const int past_block =
        min(min(first_block + shape::chunk_blocks, at.panel_block + shape::warpgroups),
            args.left_blocks);
    at.tiles.next = first_block * shape::block_tiles;
    at.tiles.end = past_block * shape::block_tiles;
    return true;
  }

 private:
  /// The first panel that a chunk of left rows meets.
  __device__ __forceinline__ int first_panel_of(int chunk) const {
    const int block = args.count.packed.within ? chunk * shape::chunk_blocks : args.left_blocks;
    return block / shape::warpgroups;
  }
};

template <class shape>
using unit_stream = warpgroup_stream<unit_tile_walk<shape>>;

/// The first stage of left rows, and the warpgroup's right rows: of corrected rows, every second
/// group of eight.
struct unit_operands {
  std::uint64_t left;
  std::uint64_t right;
};

/// Begins sums = 64 left rows times some right rows: 256, or 128 for half as many sums.
template <int depth, int size>
__device__ __forceinline__ void begin_products(float (&sums)[size], std::uint64_t left,
                                               std::uint64_t right) {
  begin_product<depth>(sums, left, right, [](auto& d, std::uint64_t a, std::uint64_t b, int k) {
    wgmma_f16(d, a, b, k);
  });
}

/// A tile of left rows that is in the ring, and what it meets.
struct unit_tile {
  int number;
  unsigned stage;
  bool on_diagonal;     // of the matrix of pairs: its right rows are among the left ones
  std::uint32_t right;  // position of the first right row
};

/// Multiplies a tile of plain rows and counts. Releases its stage after the last product.
template <class shape, bool symmetric>
__device__ __forceinline__ void count_plain_tile(const step_cut& cut,
                                                 const unit_stream<shape>& stream,
                                                 const unit_tile& tile,
                                                 const unit_operands& operands, float (&sums)[128],
                                                 unit_step_sink& sink) {
#pragma unroll 1
  for (int step = 0; step < shape::tile_steps; ++step) {
    begin_products<shape::depth>(
        sums, operands.left + ((tile.stage * shape::tile_bytes + step * 64 * shape::depth) >> 4),
        operands.right);
    finish_product<0>(sums);
    if (step + 1 == shape::tile_steps) stream.release(tile.stage);
    const auto left = static_cast<std::uint32_t>(tile.number) * shape::tile_rows + step * 64;
    const int row =
        (tile.number % shape::block_tiles * shape::tile_steps + step) * 64 + sink.lane.row;
    sink.add(decide_products<symmetric>(sums, cut), tile.on_diagonal, row, left, tile.right);
  }
}

/// Multiplies a tile of corrected rows and counts. Releases its stage after the last product.
template <class shape, bool symmetric>
__device__ __forceinline__ void count_corrected_tile(const step_cut& cut,
                                                     const unit_stream<shape>& stream,
                                                     const unit_tile& tile,
                                                     const unit_operands& operands,
                                                     unit_step_sink& sink) {
  constexpr unsigned step_offset = (64 * shape::depth) >> 4;
  const std::uint64_t first = operands.left + ((tile.stage * shape::tile_bytes) >> 4);
  const std::uint64_t odd_right = operands.right + ((8 * shape::depth) >> 4);
  float even_sums[64];
  float odd_sums[64];
  begin_products<shape::depth>(even_sums, first, operands.right);
#pragma unroll
  for (int step = 0; step < shape::tile_steps; ++step) {
    begin_products<shape::depth>(odd_sums, first + step * step_offset, odd_right);
    finish_product<1>(even_sums);
    const half_decisions even = decide_half<symmetric>(even_sums, cut);
    if (step + 1 < shape::tile_steps) {
      begin_products<shape::depth>(even_sums, first + (step + 1) * step_offset, operands.right);
      finish_product<1>(odd_sums);
    } else {
      finish_product<0>(odd_sums);
      stream.release(tile.stage);
    }
    const half_decisions odd = decide_half<symmetric>(odd_sums, cut);
    const auto left = static_cast<std::uint32_t>(tile.number) * shape::tile_rows + step * 64;
    const int row =
        (tile.number % shape::block_tiles * shape::tile_steps + step) * 64 + sink.lane.row;
    sink.add(join_halves(even, odd), tile.on_diagonal, row, left, tile.right);
  }
}

#endif  // __CUDA_ARCH_FEAT_SM90_ALL

}  // namespace gpu::kernels
