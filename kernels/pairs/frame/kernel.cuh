#pragma once
// The frame of every all-pairs kernel: a tile computes products and a sink takes them; neither
// depends on the other.
//
// A block takes one row tile and walks some column tiles of the panel with it, so row operands and
// row counters are set up once; few, where the panel has few tiles, so that they fill the device.
// Consecutive blocks take consecutive row tiles of the same columns: the column operands they share
// stay in L2.
//
// A tile class offers
//   statistic, fragment, shape (policy::tile_layout), shared_bytes(panel)
//   Tile(panel, shared)           per thread
//   start(first_row, columns)     begins to load rows and columns
//   multiply(at, fragment)        products of the columns from columns.first + at on
//   inverse_norms(at, inverse)    of the column slots, after multiply; NaN past the end
//   row_of(slot), col_of(slot)    place in the tile
//   add_rows / add_cols(counts, add)   sums counts over the lanes that share slots
// and a sink class
//   args, Sink(args, panel, tile, first_row), take(tile, fragment, first_col, inverse), finish(),
//   and maybe leaves_out(args, row): whether it wants no row from this one on.
// Places within a block's columns are ints: 64-bit arithmetic per tile would cost as much as the
// tests of its pairs.

#include "kernels/common/launch.cuh"
#include "kernels/common/warp.cuh"
#include "kernels/pairs/frame/fragment.cuh"
#include "kernels/pairs/frame/statistic.cuh"
#include "kernels/pairs/kernels.hpp"
#include "plan/pair_policy.hpp"

namespace gpu::kernels {

/// The columns [first, first + length) of a panel that one block walks.
struct column_span {
  index_t first;
  int length;
};

/// Column tiles that a block of `Tile` walks with the same rows, at most.
template <class Tile>
constexpr int most_walked_tiles() {
  if constexpr (requires { Tile::walked_tiles; }) {
    return Tile::walked_tiles;
  } else {
    return policy::column_tiles_per_block;
  }
}

template <class Tile>
__device__ column_span span_of_block(const pair_panel& panel, index_t first_row, index_t span,
                                     int walked_tiles) {
  constexpr index_t width = Tile::shape.cols;
  index_t first = span * walked_tiles * width;
  const index_t end = min(first + walked_tiles * width, panel.cols.count);
  if (panel.region == pair_region::above_diagonal) {
    // Tiles that end at or below the diagonal hold no pair.
    const index_t diagonal = panel.rows.first + first_row + 1 - panel.cols.first;
    if (diagonal > first) first = diagonal / width * width;
  }
  return {first, first < end ? static_cast<int>(end - first) : 0};
}

/// Where the diagonal crosses the columns of a block: element (row, at) of the block is on it where
/// row - at == offset, rows and columns counted from the block's first ones.
struct diagonal_place {
  int offset;
  int end_tile;  // tiles from this place on hold nothing but pairs

  template <class Tile>
  static __device__ diagonal_place of(const pair_panel& panel, index_t first_row,
                                      index_t first_col) {
    constexpr index_t far = 1 << 30;
    const index_t distance = panel.cols.first + first_col - (panel.rows.first + first_row);
    diagonal_place out{};
    out.offset = static_cast<int>(min(max(distance, -far), far));
    out.end_tile = panel.region == pair_region::whole ? -1 : Tile::shape.rows - out.offset;
    return out;
  }
};

/// Takes the elements out of a fragment that are no pairs of the panel's region.
template <class Tile>
__device__ void drop_non_pairs(const Tile& tile, const diagonal_place& diagonal, int at,
                               typename Tile::fragment& products) {
  if (at >= diagonal.end_tile) return;
#pragma unroll
  for (int r = 0; r < Tile::shape.row_slots; ++r) {
#pragma unroll
    for (int c = 0; c < Tile::shape.col_slots; ++c) {
      const int below = tile.row_of(r) - (at + tile.col_of(c)) - diagonal.offset;  // i - j
      if (below >= 0) products.drop(r, c);
    }
  }
}

template <class Tile, class Sink>
__global__ void __launch_bounds__(Tile::shape.threads, Tile::shape.blocks_per_multiprocessor)
    pair_kernel(const __grid_constant__ pair_panel panel,
                const __grid_constant__ typename Sink::args args, int walked_tiles) {
  extern __shared__ __align__(16) unsigned char shared[];
  const index_t row_tiles = ceil_div(panel.rows.count, Tile::shape.rows);
  const index_t first_row = blockIdx.x % row_tiles * Tile::shape.rows;
  const column_span span =
      span_of_block<Tile>(panel, first_row, blockIdx.x / row_tiles, walked_tiles);
  if (span.length <= 0) return;
  if constexpr (requires { Sink::leaves_out(args, first_row); }) {
    if (Sink::leaves_out(args, panel.rows.first + first_row)) return;
  }

  Tile tile(panel, shared);
  tile.start(first_row, span);
  Sink sink(args, panel, tile, first_row, shared + Tile::shared_bytes(panel));
  const auto diagonal = diagonal_place::of<Tile>(panel, first_row, span.first);
  for (int at = 0; at < span.length; at += Tile::shape.cols) {
    typename Tile::fragment products;
    tile.multiply(at, products);
    float inverse[Tile::shape.col_slots];
    tile.inverse_norms(at, inverse);
    drop_non_pairs(tile, diagonal, at, products);
    sink.take(tile, products, span.first + at, inverse);
  }
  sink.finish(tile);
}

/// inverse_norms of tiles that keep no norms in shared memory.
template <class Tile>
__device__ void read_inverse_norms(const pair_operand& side, const column_span& columns,
                                   const Tile& tile, int at,
                                   float (&inverse)[Tile::shape.col_slots]) {
  const row_norm* norms = side.norms + columns.first;
#pragma unroll
  for (int c = 0; c < Tile::shape.col_slots; ++c) {
    const int place = at + tile.col_of(c);
    inverse[c] = place < columns.length ? norms[place].inverse : CUDART_NAN_F;
  }
}

/// Launches Tile times Sink over a panel.
template <class Tile, class Sink>
void run_pair_kernel(const pair_panel& panel, const typename Sink::args& args,
                     cudaStream_t stream) {
  if (panel.rows.count == 0 || panel.cols.count == 0) return;
  const index_t row_tiles = ceil_div(panel.rows.count, Tile::shape.rows);
  const index_t col_tiles = ceil_div(panel.cols.count, index_t{Tile::shape.cols});
  const index_t at_once =
      index_t{Tile::shape.blocks_per_multiprocessor} * cuda::current_limits().multiprocessors;
  const index_t walked =
      policy::walked_column_tiles(row_tiles, col_tiles, at_once, most_walked_tiles<Tile>());
  const index_t spans = ceil_div(col_tiles, walked);
  const std::size_t shared = Tile::shared_bytes(panel) + Sink::shared_bytes(args);
  allow_shared_memory(&pair_kernel<Tile, Sink>, shared);
  pair_kernel<Tile, Sink>
      <<<static_cast<unsigned>(row_tiles * spans), Tile::shape.threads, shared, stream>>>(
          panel, args, static_cast<int>(walked));
  GPU_SIMILARITY_CHECK_LAUNCH();
}

}  // namespace gpu::kernels
