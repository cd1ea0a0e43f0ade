#pragma once
// Sink of a dense result: every statistic, exact, in float or double. The time is that of the
// writes, which overlap with the division and square root of the exact statistic.

#include "kernels/pairs/frame/epilogue.cuh"

namespace gpu::kernels {

template <class Tile>
class tile_dense_sink {
 public:
  using args = dense_sink_args;
  static std::size_t shared_bytes(const args&) { return 0; }

  __device__ tile_dense_sink(const args& a, const pair_panel& panel, const Tile&, index_t first_row,
                             unsigned char*)
      : args_(a), panel_(panel), first_row_(first_row) {}

  __device__ void take(const Tile& tile, const typename Tile::fragment& products, index_t first_col,
                       const float (&)[Tile::shape.col_slots]) {
#pragma unroll
    for (int r = 0; r < Tile::shape.row_slots; ++r) {
      const index_t i = first_row_ + tile.row_of(r);
      if (i >= panel_.rows.count) continue;
      const index_t out_row = panel_.rows.first + i - args_.first_row;
#pragma unroll
      for (int c = 0; c < Tile::shape.col_slots; ++c) {
        const index_t j = first_col + tile.col_of(c);
        if (j >= panel_.cols.count) continue;
        const index_t at = out_row * args_.pitch + panel_.cols.first + j - args_.first_col;
        write(at, value_of(i, j, products.product(r, c)));
      }
    }
  }

  __device__ void finish(const Tile&) {}

 private:
  using statistic = typename Tile::statistic;

  __device__ double value_of(index_t i, index_t j, typename statistic::product product) const {
    if (panel_.rows.square_sums[i] <= 0 || panel_.cols.square_sums[j] <= 0) return CUDART_NAN;
    if (panel_.rows.first + i == panel_.cols.first + j) return 1.0;
    return statistic::dense(product, panel_.rows, i, panel_.cols, j);
  }

  __device__ void write(index_t at, double value) {
    if (args_.out_double != nullptr) {
      args_.out_double[at] = value;
    } else {
      args_.out_float[at] = static_cast<float>(value);
    }
  }

  const args& args_;
  const pair_panel& panel_;
  index_t first_row_;
};

}  // namespace gpu::kernels
