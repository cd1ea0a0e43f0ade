#pragma once
// Sink of edges: pairs that may be kept go to one queue in global memory.
//
// The common path is one fma and one compare a pair. A warp in which any thread found something
// takes the slow path: masks, one prefix sum and one atomic for the warp, then the stores. The
// counter runs on past the capacity, so the host learns what would have been needed. Candidates are
// decided by later kernels, so there is no exact arithmetic here. Only for device results, where
// the host cannot act between two launches, the slow path decides, and the queue holds kept pairs
// alone.

#include "kernels/pairs/frame/epilogue.cuh"

namespace gpu::kernels {

template <class Tile, queue_content Content = queue_content::possible>
class tile_candidate_sink {
  static constexpr int rows = Tile::shape.row_slots;
  static constexpr int cols = Tile::shape.col_slots;

 public:
  using args = candidate_sink_args;
  static std::size_t shared_bytes(const args&) { return 0; }
  static __device__ bool leaves_out(const args& a, index_t row)
    requires(Content == queue_content::kept)
  {
    return a.end_row != nullptr && row >= *a.end_row;
  }

  __device__ tile_candidate_sink(const args& a, const pair_panel& panel, const Tile& tile,
                                 index_t first_row, unsigned char*)
      : args_(a),
        panel_(panel),
        first_row_(first_row),
        tests_(load_row_tests(panel, tile, first_row, a.cut)) {
    if constexpr (Content == queue_content::kept) {
#pragma unroll
      for (int r = 0; r < rows; ++r) {
        // Nothing is at least as far as a NaN.
        const bool out = leaves_out(a, panel.rows.first + first_row + tile.row_of(r));
        if (out) tests_.possible[r] = CUDART_NAN_F;
      }
    }
  }

  __device__ void take(const Tile& tile, const typename Tile::fragment& products, index_t first_col,
                       const float (&inverse)[cols]) {
    bool any = false;
#pragma unroll
    for (int r = 0; r < rows; ++r) {
#pragma unroll
      for (int c = 0; c < cols; ++c) any |= possible(products, inverse, r, c);
    }
    if (__any_sync(0xffffffffu, any)) emit(tile, products, first_col, inverse);
  }

  __device__ void finish(const Tile&) {}

 private:
  __device__ bool possible(const typename Tile::fragment& products, const float (&inverse)[cols],
                           int r, int c) const {
    return tests_.distance(products.estimate(r, c), inverse[c], r) >= tests_.possible[r];
  }

  __device__ void emit(const Tile& tile, const typename Tile::fragment& products, index_t first_col,
                       const float (&inverse)[cols]) {
    std::uint64_t mask = 0;
#pragma unroll
    for (int r = 0; r < rows; ++r) {
#pragma unroll
      for (int c = 0; c < cols; ++c) {
        bool wanted = possible(products, inverse, r, c);
        if constexpr (Content == queue_content::kept) {
          wanted = wanted && kept(tile, products, first_col, inverse, r, c);
        }
        mask |= static_cast<std::uint64_t>(wanted) << (r * cols + c);
      }
    }
    if constexpr (Content == queue_content::kept) {
      if (args_.per_row != nullptr) return count_per_row(tile, mask);
    }
    std::uint64_t place = reserve(static_cast<unsigned>(__popcll(mask)));
#pragma unroll
    for (int r = 0; r < rows; ++r) {
#pragma unroll
      for (int c = 0; c < cols; ++c) {
        if ((mask >> (r * cols + c) & 1) == 0) continue;
        if (place < args_.capacity) {
          const auto i =
              static_cast<std::uint64_t>(panel_.rows.first + first_row_ + tile.row_of(r));
          const auto j = static_cast<std::uint64_t>(panel_.cols.first + first_col + tile.col_of(c));
          args_.keys[place] = i << 32 | j;
          args_.products[place] = product_bits(products.product(r, c));
        }
        ++place;
      }
    }
  }

  // Tests of the row are not in registers: this is rare, and they would be there all the time.
  __device__ bool kept(const Tile& tile, const typename Tile::fragment& products, index_t first_col,
                       const float (&inverse)[cols], int r, int c) const {
    const index_t i = first_row_ + tile.row_of(r);
    const float certain = args_.cut.certain * panel_.rows.norms[i].norm;
    return tests_.distance(products.estimate(r, c), inverse[c], r) >= certain ||
           exactly_kept<typename Tile::statistic>(panel_, args_.cut, i, first_col + tile.col_of(c),
                                                  products.product(r, c));
  }

  __device__ void count_per_row(const Tile& tile, std::uint64_t mask) const {
    constexpr std::uint64_t one_row = (std::uint64_t{1} << cols) - 1;
#pragma unroll
    for (int r = 0; r < rows; ++r) {
      const int found = __popcll(mask >> (r * cols) & one_row);
      if (found == 0) continue;
      atomicAdd(args_.per_row + panel_.rows.first + first_row_ + tile.row_of(r),
                static_cast<unsigned long long>(found));
    }
  }

  // The first of `wanted` places of this thread: one atomic for the warp.
  __device__ std::uint64_t reserve(unsigned wanted) {
    const unsigned lane = threadIdx.x % 32;
    unsigned before = wanted;
#pragma unroll
    for (unsigned step = 1; step < 32; step *= 2) {
      const unsigned other = __shfl_up_sync(0xffffffffu, before, step);
      if (lane >= step) before += other;
    }
    unsigned long long start = 0;
    if (lane == 31) start = atomicAdd(args_.count, static_cast<unsigned long long>(before));
    start = __shfl_sync(0xffffffffu, start, 31);
    return start + before - wanted;
  }

  const args& args_;
  const pair_panel& panel_;
  index_t first_row_;
  row_tests<rows> tests_;
};

}  // namespace gpu::kernels
