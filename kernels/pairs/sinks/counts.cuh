#pragma once
// Sink of counts: kept pairs in all and per row, without a branch per pair.
//
// Certain pairs are counted as floats: a comparison gives 1 or 0, which is added to the counter of
// its row slot and of its column slot. Possible pairs are counted too; where a thread finds more
// possible than certain ones in a fragment (about once in 10^4), it goes through them and decides
// exactly. Row counters live as long as the block walks its columns, column counters one tile.

#include <type_traits>

#include "kernels/pairs/frame/epilogue.cuh"

namespace gpu::kernels {

template <class Tile>
class tile_count_sink {
  static constexpr int rows = Tile::shape.row_slots;
  static constexpr int cols = Tile::shape.col_slots;

 public:
  using args = count_sink_args;
  static std::size_t shared_bytes(const args&) { return 0; }
  static __device__ bool leaves_out(const args& a, index_t) {
    return a.done != nullptr && *a.done != 0;
  }

  __device__ tile_count_sink(const args& a, const pair_panel& panel, const Tile& tile,
                             index_t first_row, unsigned char*)
      : args_(a),
        panel_(panel),
        first_row_(first_row),
        tests_(load_row_tests(panel, tile, first_row, a.cut)) {}

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
    kept = warp_sum(kept);
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
        if (!(distance >= tests_.possible[r]) || distance >= tests_.certain[r]) continue;
        if constexpr (is_refined) {
          if (args_.undecided.keys != nullptr) {
            leave_undecided(first_row_ + tile.row_of(r), first_col + tile.col_of(c));
            continue;
          }
        }
        if (exactly_kept<typename Tile::statistic>(panel_, args_.cut, first_row_ + tile.row_of(r),
                                                   first_col + tile.col_of(c),
                                                   products.product(r, c))) {
          row_counts_[r] += 1;
          col_counts.add(c, 1.0f);
        }
      }
    }
  }

  static constexpr bool is_refined =
      std::is_same_v<typename Tile::statistic, refined_pearson_statistic>;

  __device__ void leave_undecided(index_t i, index_t j) const {
    const undecided_queue& to = args_.undecided;
    const std::uint64_t place = atomicAdd(to.count, 1ULL);
    if (place >= to.capacity) return;
    to.keys[place] = static_cast<std::uint64_t>(panel_.rows.first + i) << 32 |
                     static_cast<std::uint64_t>(panel_.cols.first + j);
  }

  const args& args_;
  const pair_panel& panel_;
  index_t first_row_;
  row_tests<rows> tests_;
  float row_counts_[rows] = {};
};

/// The same with weights of rows and columns: a kept pair adds the weight of its column to its row
/// slot and the other way round. What a row slot has in the end, times the row's weight, is its
/// part of the pairs in all. Sums of weights are at most the rows of an input and fit 32 bits.
template <class Tile>
class tile_weighted_count_sink {
  static constexpr int rows = Tile::shape.row_slots;
  static constexpr int cols = Tile::shape.col_slots;

 public:
  using args = count_sink_args;
  static std::size_t shared_bytes(const args&) { return 0; }
  static __device__ bool leaves_out(const args& a, index_t) {
    return a.done != nullptr && *a.done != 0;
  }

  __device__ tile_weighted_count_sink(const args& a, const pair_panel& panel, const Tile& tile,
                                      index_t first_row, unsigned char*)
      : args_(a),
        panel_(panel),
        first_row_(first_row),
        tests_(load_row_tests(panel, tile, first_row, a.cut)) {
#pragma unroll
    for (int r = 0; r < rows; ++r) {
      const index_t i = first_row + tile.row_of(r);
      row_weights_[r] = i < panel.rows.count ? a.weights[panel.rows.first + i] : 0;
    }
  }

  __device__ void take(const Tile& tile, const typename Tile::fragment& products, index_t first_col,
                       const float (&inverse)[cols]) {
    weighted_counts<cols> col_sums;
#pragma unroll
    for (int c = 0; c < cols; ++c) {
      const index_t j = first_col + tile.col_of(c);
      const std::uint32_t weight = j < panel_.cols.count ? args_.weights[panel_.cols.first + j] : 0;
#pragma unroll
      for (int r = 0; r < rows; ++r) {
        const float distance = tests_.distance(products.estimate(r, c), inverse[c], r);
        bool kept = distance >= tests_.certain[r];
        if (!kept && distance >= tests_.possible[r]) {
          kept = exactly_kept<typename Tile::statistic>(
              panel_, args_.cut, first_row_ + tile.row_of(r), j, products.product(r, c));
        }
        row_sums_[r] += kept ? weight : 0;
        col_sums.sum[c] += kept ? row_weights_[r] : 0;
      }
    }
    std::uint32_t* degree = args_.degree + panel_.cols.first + first_col;
    tile.add_cols(col_sums, [&](int col, std::uint32_t sum) {
      if (sum > 0) atomicAdd(degree + col, sum);
    });
  }

  __device__ void finish(const Tile& tile) {
    unsigned long long kept = 0;
#pragma unroll
    for (int r = 0; r < rows; ++r) {
      kept += static_cast<unsigned long long>(row_weights_[r]) * row_sums_[r];
    }
    kept = warp_sum(kept);
    if (threadIdx.x % 32 == 0 && kept != 0) atomicAdd(args_.kept, kept);
    std::uint32_t* degree = args_.degree + panel_.rows.first + first_row_;
    tile.add_rows(row_sums_, [&](int row, std::uint32_t sum) {
      if (sum > 0) atomicAdd(degree + row, sum);
    });
  }

 private:
  const args& args_;
  const pair_panel& panel_;
  index_t first_row_;
  row_tests<rows> tests_;
  std::uint32_t row_weights_[rows];
  std::uint32_t row_sums_[rows] = {};
};

}  // namespace gpu::kernels
