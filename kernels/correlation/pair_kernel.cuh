#pragma once
// The frame of every all-pairs kernel: a tile computes products, a sink takes them, neither knows
// the other.
//
// A block takes one row tile and walks up to `column_tiles_per_block` column tiles of the panel
// with it, so row operands and row counters are set up once. Consecutive blocks take consecutive
// row tiles of the same columns: the column operands they share stay in L2.
//
// A tile class offers
//   statistic, fragment, shape (policy::pair_tile), shared_bytes(panel)
//   Tile(panel, shared)           per thread
//   start(first_row, first_col)   loads the rows and begins to load the first columns
//   multiply(first_col, next_col, fragment)   next_col < 0: there is none
//   row_of(slot), col_of(slot)    place in the tile
//   add_rows / add_cols(counts, add)   sums counts over the lanes that share slots
// and a sink class
//   args, Sink(args, panel, tile, first_row), take(tile, fragment, first_col, inverse), finish().

#include "common/launch.cuh"
#include "correlation/correlation_kernels.hpp"
#include "correlation/correlation_policy.hpp"
#include "correlation/pair_fragment.cuh"
#include "correlation/pair_statistic.cuh"

namespace gpu::kernels {

/// The columns [first, end) of a panel that one block walks.
struct column_span {
  index_t first;
  index_t end;
};

template <class Tile>
__device__ column_span span_of_block(const pair_panel& panel, index_t first_row, index_t span) {
  constexpr index_t width = Tile::shape.cols;
  column_span out{span * policy::column_tiles_per_block * width, 0};
  out.end = min(out.first + policy::column_tiles_per_block * width, panel.cols.count);
  if (panel.region == pair_region::above_diagonal) {
    // Tiles that end at or below the diagonal hold no pair.
    const index_t diagonal = panel.rows.first + first_row + 1 - panel.cols.first;
    if (diagonal > out.first) out.first = diagonal / width * width;
  }
  return out;
}

/// Takes the elements out of a fragment that are no pairs of the panel's region.
template <class Tile>
__device__ void drop_non_pairs(const pair_panel& panel, const Tile& tile, index_t first_row,
                               index_t first_col, typename Tile::fragment& products) {
  const index_t row0 = panel.rows.first + first_row;
  const index_t col0 = panel.cols.first + first_col;
  if (panel.region == pair_region::whole || row0 + Tile::shape.rows <= col0) return;
  if (panel.region == pair_region::off_diagonal && col0 + Tile::shape.cols <= row0) return;
#pragma unroll
  for (int r = 0; r < Tile::shape.row_slots; ++r) {
#pragma unroll
    for (int c = 0; c < Tile::shape.col_slots; ++c) {
      const index_t i = row0 + tile.row_of(r);
      const index_t j = col0 + tile.col_of(c);
      const bool pair = panel.region == pair_region::above_diagonal ? i < j : i != j;
      if (!pair) products.drop(r, c);
    }
  }
}

template <class Tile, class Sink>
__global__ void __launch_bounds__(Tile::shape.threads, Tile::shape.blocks_per_multiprocessor)
    pair_kernel(const __grid_constant__ pair_panel panel,
                const __grid_constant__ typename Sink::args args) {
  extern __shared__ __align__(16) unsigned char shared[];
  const index_t row_tiles = ceil_div(panel.rows.count, Tile::shape.rows);
  const index_t first_row = blockIdx.x % row_tiles * Tile::shape.rows;
  const column_span span = span_of_block<Tile>(panel, first_row, blockIdx.x / row_tiles);
  if (span.first >= span.end) return;

  Tile tile(panel, shared);
  tile.start(first_row, span.first);
  Sink sink(args, panel, tile, first_row, shared + Tile::shared_bytes(panel));
  for (index_t col = span.first; col < span.end; col += Tile::shape.cols) {
    const index_t next = col + Tile::shape.cols < span.end ? col + Tile::shape.cols : -1;
    float inverse[Tile::shape.col_slots];
#pragma unroll
    for (int c = 0; c < Tile::shape.col_slots; ++c) {
      const index_t j = col + tile.col_of(c);
      inverse[c] = j < panel.cols.count ? panel.cols.norms[j].inverse : CUDART_NAN_F;
    }
    typename Tile::fragment products;
    tile.multiply(col, next, products);
    drop_non_pairs(panel, tile, first_row, col, products);
    sink.take(tile, products, col, inverse);
  }
  sink.finish(tile);
}

/// Launches Tile times Sink over a panel.
template <class Tile, class Sink>
void run_pair_kernel(const pair_panel& panel, const typename Sink::args& args,
                     cudaStream_t stream) {
  if (panel.rows.count == 0 || panel.cols.count == 0) return;
  const index_t row_tiles = ceil_div(panel.rows.count, Tile::shape.rows);
  const index_t spans =
      ceil_div(panel.cols.count, index_t{Tile::shape.cols} * policy::column_tiles_per_block);
  const std::size_t shared = Tile::shared_bytes(panel) + Sink::shared_bytes(args);
  allow_shared_memory(&pair_kernel<Tile, Sink>, shared);
  pair_kernel<Tile, Sink>
      <<<static_cast<unsigned>(row_tiles * spans), Tile::shape.threads, shared, stream>>>(panel,
                                                                                          args);
  GPU_SIMILARITY_CHECK_LAUNCH();
}

}  // namespace gpu::kernels
