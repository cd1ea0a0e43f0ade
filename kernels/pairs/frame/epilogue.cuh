#pragma once
// The keep-or-drop test of a row slot on float estimates, and the exact test behind it.
//
// With product t, column inverse norm s and row norm n, t * s estimates n times the statistic, so
// comparing |t s - n middle| with n possible and n certain decides all but the pairs very near the
// cut, in one fma and one compare. Errors: t (2^-24 where it is not exact), s, n and three
// roundings, each relative to values of at most 3 n; the margin between possible and certain covers
// them.

#include "kernels/pairs/frame/kernel.cuh"

namespace gpu::kernels {

/// The test of the row slots of one thread.
template <int RowSlots>
struct row_tests {
  float middle[RowSlots];
  float possible[RowSlots];
  float certain[RowSlots];

  __device__ float distance(float estimate, float inverse, int r) const {
    return fabsf(fmaf(estimate, inverse, -middle[r]));
  }
};

template <class Tile>
__device__ row_tests<Tile::shape.row_slots> load_row_tests(const pair_panel& panel,
                                                           const Tile& tile, index_t first_row,
                                                           const cut_estimate& cut) {
  row_tests<Tile::shape.row_slots> out;
#pragma unroll
  for (int r = 0; r < Tile::shape.row_slots; ++r) {
    const index_t i = first_row + tile.row_of(r);
    const bool there = i < panel.rows.count;
    const float norm = there ? panel.rows.norms[i].norm : CUDART_NAN_F;
    out.middle[r] = cut.middle * norm;
    out.possible[r] = cut.possible * norm;
    out.certain[r] = cut.certain * norm;
  }
  return out;
}

/// The decision of a statistic, of one pair of the panel (local row and column).
template <class Statistic>
__device__ bool keeps_pair(const pair_panel& panel, const cut_estimate& cut, index_t i, index_t j,
                           double statistic) {
  if constexpr (std::is_same_v<Statistic, spearman_statistic>) {
    if (!cut.by_ties.is_one()) {
      return cut.by_ties.keeps(statistic, panel.rows.square_sums[i], panel.cols.square_sums[j]);
    }
  }
  return keeps(statistic, cut.at_least, cut.at_most);
}

/// The same of its product.
template <class Statistic>
__device__ __noinline__ bool exactly_kept(const pair_panel& panel, const cut_estimate& cut,
                                          index_t i, index_t j,
                                          typename Statistic::product product) {
  return keeps_pair<Statistic>(panel, cut, i, j,
                               Statistic::of(product, panel.rows, i, panel.cols, j));
}

}  // namespace gpu::kernels
