#pragma once
// A panel by products: it is cut into pieces whose products fit the memory there is, and each piece
// is multiplied and handed to the sink.

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "kernels/pairs/products/multiply.hpp"
#include "kernels/pairs/products/tile.cuh"
#include "kernels/pairs/sinks/launch.cuh"

namespace gpu::kernels {

/// Rows [begin, end) of an operand of doubles, or of planes.
inline pair_operand rows_of(const pair_operand& all, index_t begin, index_t end) {
  pair_operand out = all;
  // Planes are those of all rows.
  if (all.plane_rows == 0) {
    out.values = static_cast<const double*>(all.values) + begin * all.pitch;
  }
  out.norms = all.norms + begin;
  out.square_sums = all.square_sums + begin;
  if (all.unit_rows != nullptr) out.unit_rows = all.unit_rows + begin * all.unit_pitch;
  out.first = all.first + begin;
  out.count = end - begin;
  return out;
}

/// How a panel is cut: rows and columns of a piece, in whole blocks, and the parts of a sum.
class product_pieces {
 public:
  index_t rows = 0;
  index_t cols = 0;
  int parts = 1;
  index_t depth = 0;    // of a sum: elements, or planes
  index_t segment = 0;  // of rows of doubles: elements, see product_job
  int slices_apart = 1;

  product_pieces(pair_tile_kind tile, const pair_panel& panel, bool symmetric)
      : tile_(tile), panel_rows_(panel.rows.count), panel_cols_(panel.cols.count) {
    const index_t down = ceil_div(panel.rows.count, block);
    const index_t across = ceil_div(panel.cols.count, block);
    choose_parts(panel, down * across, symmetric);
    // Sums of one part that there is memory for.
    const index_t room = places(panel) / parts;
    if (fits(room)) {
      rows = down * block;
      cols = across * block;
      return;
    }
    const auto side = static_cast<index_t>(std::sqrt(static_cast<double>(room))) / block;
    rows = std::max<index_t>(std::min(down, side), 1) * block;
    while (rows > block && sums(rows, block) > room) rows -= block;
    cols = symmetric ? rows : across * block;
    if (symmetric) {
      while (rows > block && sums(rows, rows) > room) rows -= block;
      cols = rows;
    } else if (sums(rows, cols) > room) {
      cols = std::max<index_t>(room / sums(rows, block), 1) * block;
      while (cols > block && sums(rows, cols) > room) cols -= block;
    }
    if (sums(rows, cols) > room) {
      throw std::logic_error("launch_pairs: too little memory for products");
    }
  }

  /// Columns and places of the sums of a piece.
  [[nodiscard]] index_t pitch() const { return extents(rows, cols).cols; }
  [[nodiscard]] index_t part_step() const { return sums(rows, cols); }

 private:
  static constexpr index_t block = policy::product_block;

  // Rows and columns of the sums of a piece: in planes whole tiles are multiplied.
  [[nodiscard]] tiled_extents extents(index_t row_count, index_t col_count) const {
    switch (tile_) {
      case pair_tile_kind::products_limbs:
        return tiled_extents_of(row_count, col_count, policy::limb_tile_rows,
                                policy::limb_tile_cols);
      case pair_tile_kind::products_half:
        return tiled_extents_of(row_count, col_count, policy::half_tile_rows,
                                policy::half_tile_cols);
      case pair_tile_kind::products_double:
        return {std::min(row_count, panel_rows_), std::min(col_count, round_up(panel_cols_, 2))};
      default:
        return {row_count, col_count};
    }
  }
  // Whether the sums of one part of the whole panel do.
  [[nodiscard]] bool fits(index_t room) const {
    return sums(round_up(panel_rows_, block), round_up(panel_cols_, block)) <= room;
  }
  [[nodiscard]] index_t sums(index_t row_count, index_t col_count) const {
    const tiled_extents taken = extents(row_count, col_count);
    return taken.rows * taken.cols;
  }
  // Sums that there is memory for: 32 bits each in planes.
  [[nodiscard]] index_t places(const pair_panel& panel) const {
    return panel.products.capacity * (takes_planes(tile_) ? 2 : 1);
  }
  // As many parts as fill the device a few times, where their number is free.
  void choose_parts(const pair_panel& panel, index_t blocks, bool symmetric) {
    if (finishes_statistics(tile_)) return;  // statistics are whole
    if (tile_ == pair_tile_kind::products_half) return choose_half_parts(panel, symmetric);
    const index_t fill = index_t{4} * cuda::current_limits().multiprocessors;
    const index_t elements = panel.rows.columns;
    if (tile_ == pair_tile_kind::products_double) {
      segment = elements / detail::partial_sums;
      depth = detail::slice_of_row(elements) / detail::partial_sums;
      parts = detail::partial_sums;
      if (depth < segment) return choose_slices(panel);
      // The first level of the tree that adds up the partial sums, where there is work enough.
      if (!takes_two_sums(depth) || 4 * blocks < fill) return;
      segment *= 2;
      parts /= 2;
    } else {
      const int limb_pairs = panel.rows.limbs * panel.rows.limbs;
      const index_t planes = product_planes(elements);
      const index_t tiles = ceil_div(panel.rows.count, policy::limb_tile_rows) *
                            ceil_div(panel.cols.count, policy::limb_tile_cols);
      const index_t smallest = limb_pairs * sums(block, block);
      const index_t least = ceil_div(elements, policy::limb_split_columns);
      const index_t most = std::max(
          least, std::min({policy::most_limb_splits, planes / policy::least_planes_of_split,
                           places(panel) / smallest}));
      const index_t splits = std::clamp(ceil_div(fill, tiles * limb_pairs), least, most);
      depth = ceil_div(planes, splits);
      parts = limb_pairs * static_cast<int>(ceil_div(planes, depth));
    }
  }

  // Slices of few long rows are parts of their own, where there is memory for some blocks of them.
  void choose_slices(const pair_panel& panel) {
    constexpr index_t most_parts = 65535;  // of a grid
    const index_t slices = ceil_div(segment, depth);
    const bool is_small = panel_rows_ * panel_cols_ <= most_sliced_products;
    if (!is_small || parts * slices > most_parts ||
        sums(2 * block, 2 * block) > places(panel) / (parts * slices)) {
      return;
    }
    slices_apart = static_cast<int>(slices);
    parts *= slices_apart;
  }

  // The number whose rounds of tiles take least; a tile takes the time of some more cells to begin
  // and to end.
  void choose_half_parts(const pair_panel& panel, bool symmetric) {
    constexpr index_t beside = 6;
    const index_t cells = policy::half_cells(panel.rows.columns);
    const index_t across = ceil_div(panel.cols.count, policy::half_tile_cols);
    index_t tiles = 0;
    for (index_t row = 0; row < panel.rows.count; row += policy::half_tile_rows) {
      tiles += across - (symmetric ? row / policy::half_tile_cols : 0);
    }
    const index_t at_once = std::max(cuda::current_limits().multiprocessors / 2, 1);
    const index_t most = std::max<index_t>(
        1, std::min({policy::most_half_splits, cells / policy::least_cells_of_split,
                     places(panel) / sums(block, block)}));
    index_t least = 0;
    for (index_t splits = 1; splits <= most; ++splits) {
      const index_t of_split = round_up(ceil_div(cells, splits), 2);
      const index_t time = ceil_div(tiles * splits, at_once) * (of_split + beside);
      if (least != 0 && time >= least) continue;
      least = time;
      depth = of_split;
      parts = static_cast<int>(ceil_div(cells, depth));
    }
  }

  pair_tile_kind tile_;
  index_t panel_rows_;
  index_t panel_cols_;
};

/// The pieces of a panel: the products of each, then the sink on them; of a piece off the diagonal
/// of a symmetric panel on their mirror image too.
template <class Tile, class Sink>
class product_run {
 public:
  product_run(pair_tile_kind tile, const pair_panel& panel, const Sink& sink, cudaStream_t stream)
      : tile_(tile),
        panel_(panel),
        sink_(sink),
        stream_(stream),
        symmetric_(panel.region == pair_region::whole && panel.rows.first == panel.cols.first &&
                   panel.rows.count == panel.cols.count),
        pieces_(tile, panel, symmetric_) {}

  void run() const {
    for (index_t i = 0; i < panel_.rows.count; i += pieces_.rows) {
      for (index_t j = symmetric_ ? i : 0; j < panel_.cols.count; j += pieces_.cols) {
        take(i, j);
      }
    }
  }

 private:
  void take(index_t i, index_t j) const {
    pair_panel piece = panel_;
    piece.rows = rows_of(panel_.rows, i, std::min(i + pieces_.rows, panel_.rows.count));
    piece.cols = rows_of(panel_.cols, j, std::min(j + pieces_.cols, panel_.cols.count));
    const bool above = panel_.region == pair_region::above_diagonal;
    if (above && piece.cols.first - piece.rows.first + piece.cols.count <= 1) return;
    piece.products.pitch = pieces_.pitch();
    piece.products.part_step = pieces_.part_step();
    piece.products.parts = pieces_.parts;
    const bool on_diagonal = symmetric_ && i == j;
    multiply(piece, on_diagonal ? product_blocks::on_or_above_it
                    : above     ? product_blocks::above_diagonal
                                : product_blocks::all);
    piece.products.order = on_diagonal ? product_order::mirrored : product_order::direct;
    run_tile<Tile>(piece, sink_, stream_);
    if (!symmetric_ || on_diagonal) return;
    std::swap(piece.rows, piece.cols);
    piece.products.order = product_order::transposed;
    run_tile<Tile>(piece, sink_, stream_);
  }
  void multiply(pair_panel& piece, product_blocks blocks) const {
    if (finishes_statistics(tile_)) {
      if (!marks_kept(tile_, piece)) piece.products.kept = nullptr;
      const pairwise_job job{.rows = piece.rows,
                             .cols = piece.cols,
                             .decision = piece.decision,
                             .offset = piece.cols.first - piece.rows.first,
                             .blocks = blocks,
                             .to = piece.products,
                             .classes = piece.classes};
      return finish(job, piece.tied);
    }
    if (takes_planes(tile_)) {
      constexpr index_t group = tiled_extents::group;
      piece.products.first =
          piece.rows.first % group * piece.products.pitch + piece.cols.first % group;
    }
    row_limit limit;
    if constexpr (requires { sink_.end_row; }) limit = {sink_.end_row, piece.rows.first};
    if (tile_ == pair_tile_kind::products_half) {
      return launch_multiply_halves({.planes = static_cast<const std::byte*>(piece.rows.values),
                                     .plane_rows = piece.rows.plane_rows,
                                     .cells = policy::half_cells(piece.rows.columns),
                                     .depth = pieces_.depth,
                                     .first_row = piece.rows.first,
                                     .first_col = piece.cols.first,
                                     .rows = piece.rows.count,
                                     .cols = piece.cols.count,
                                     .blocks = blocks,
                                     .limit = limit,
                                     .to = piece.products},
                                    stream_);
    }
    if (tile_ == pair_tile_kind::products_limbs) {
      return launch_multiply_limbs(
          {.planes = static_cast<const std::int8_t*>(piece.rows.values),
           .plane_rows = piece.rows.plane_rows,
           .limbs = piece.rows.limbs,
           .planes_of_limb = static_cast<int>(product_planes(piece.rows.columns)),
           .depth = static_cast<int>(pieces_.depth),
           .first_row = piece.rows.first,
           .first_col = piece.cols.first,
           .rows = piece.rows.count,
           .cols = piece.cols.count,
           .blocks = blocks,
           .limit = limit,
           .to = piece.products},
          stream_);
    }
    const product_job job{.x = static_cast<const double*>(piece.rows.values),
                          .y = static_cast<const double*>(piece.cols.values),
                          .x_pitch = piece.rows.pitch,
                          .y_pitch = piece.cols.pitch,
                          .rows = piece.rows.count,
                          .cols = piece.cols.count,
                          .segment = pieces_.segment,
                          .depth = pieces_.depth,
                          .slices_apart = pieces_.slices_apart,
                          .offset = piece.cols.first - piece.rows.first,
                          .blocks = blocks,
                          .limit = limit,
                          .to = piece.products};
    launch_multiply_rows(job, stream_);
    if (job.slices_apart == 1) return;
    launch_add_slices(job, stream_);
    piece.products.part_step *= job.slices_apart;
    piece.products.parts /= job.slices_apart;
  }
  void finish(const pairwise_job& job, const stats::kendall_decision& tied) const {
    if (tile_ == pair_tile_kind::signs) return launch_sign_statistics(job, tied, stream_);
    if (tile_ == pair_tile_kind::pairwise_ranks) return launch_pairwise_ranks(job, stream_);
    launch_pairwise_values(job, stream_);
  }

  pair_tile_kind tile_;
  const pair_panel& panel_;
  const Sink& sink_;
  cudaStream_t stream_;
  bool symmetric_;
  product_pieces pieces_;
};

}  // namespace gpu::kernels
