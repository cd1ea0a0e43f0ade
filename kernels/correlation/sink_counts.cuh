#pragma once
// Sink of counts: kept pairs in all and per row, without a branch per pair.
//
// Certain pairs are counted as floats: a comparison gives 1 or 0, which is added to the counter of
// its row slot and of its column slot. Possible pairs are counted too; where a thread finds more
// possible than certain ones in a fragment (about once in 10^4), it goes through them and decides
// exactly. Row counters live as long as the block walks its columns, column counters one tile.

#include "correlation/pair_epilogue.cuh"

namespace gpu::kernels {

template <class Tile>
class count_sink {
  static constexpr int rows = Tile::shape.row_slots;
  static constexpr int cols = Tile::shape.col_slots;

 public:
  using args = count_sink_args;
  static std::size_t shared_bytes(const args&) { return 0; }

  __device__ count_sink(const args& a, const pair_panel& panel, const Tile& tile, index_t first_row,
                        unsigned char*)
      : args_(a),
        panel_(panel),
        first_row_(first_row),
        tests_(load_row_tests(panel, tile, first_row, a.cut, nullptr)) {}

  __device__ void take(const Tile& tile, const typename Tile::fragment& products, index_t first_col,
                       const float (&inverse)[cols]) {
    packed_counts<cols> col_counts;
    packed_counts<cols> possible;
#pragma unroll
    for (int c = 0; c < cols; ++c) {
#pragma unroll
      for (int r = 0; r < rows; ++r) {
        const float distance = tests_.distance(products.estimate(r, c), inverse[c], r);
        const float kept = distance >= tests_.certain[r] ? 1.0f : 0.0f;
        row_counts_[r] += kept;
        col_counts.add(c, kept);
        possible.add(c, distance >= tests_.possible[r] ? 1.0f : 0.0f);
      }
    }
    if (possible != col_counts) decide_rest(tile, products, first_col, inverse, col_counts);
    std::uint32_t* degree = args_.degree + panel_.cols.first + first_col;
    tile.add_cols(col_counts, [&](int col, std::uint32_t count) {
      if (count > 0) atomicAdd(degree + col, count);
    });
  }

  __device__ void finish(const Tile& tile) {
    float total = 0;
#pragma unroll
    for (int r = 0; r < rows; ++r) total += row_counts_[r];
    std::uint32_t* degree = args_.degree + panel_.rows.first + first_row_;
    tile.add_rows(row_counts_, [&](int row, float count) {
      if (count > 0) atomicAdd(degree + row, static_cast<std::uint32_t>(count));
    });
    auto kept = static_cast<unsigned>(total);
    kept = sum_over_warp(kept);
    if (threadIdx.x % 32 == 0 && kept != 0) atomicAdd(args_.kept, kept);
  }

 private:
  __device__ void decide_rest(const Tile& tile, const typename Tile::fragment& products,
                              index_t first_col, const float (&inverse)[cols],
                              packed_counts<cols>& col_counts) {
#pragma unroll
    for (int r = 0; r < rows; ++r) {
#pragma unroll
      for (int c = 0; c < cols; ++c) {
        const float distance = tests_.distance(products.estimate(r, c), inverse[c], r);
        if (distance >= tests_.possible[r] && !(distance >= tests_.certain[r]) &&
            exactly_kept<typename Tile::statistic>(panel_, args_.cut, first_row_ + tile.row_of(r),
                                                   first_col + tile.col_of(c),
                                                   products.product(r, c))) {
          row_counts_[r] += 1;
          col_counts.add(c, 1.0f);
        }
      }
    }
  }

  const args& args_;
  const pair_panel& panel_;
  index_t first_row_;
  row_tests<rows> tests_;
  float row_counts_[rows] = {};
};

}  // namespace gpu::kernels
