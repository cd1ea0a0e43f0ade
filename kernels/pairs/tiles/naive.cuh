#pragma once
// Variant naive: one block per row, the row in shared memory, one pair per thread; for every pair
// both rows are prepared anew (ranks by counting, O(cols^2)).
//
// Shared memory: one row of doubles. Reads of the other row are not coalesced. Kept as the baseline
// that the other variants are measured against and tested with.

#include "kernels/pairs/frame/kernel.cuh"

namespace gpu::kernels {

/// What the naive tiles share: a thread has one pair, column number threadIdx.x of the tile.
template <class Fragment>
class naive_tile {
 public:
  static constexpr policy::tile_layout shape = policy::naive;
  using fragment = Fragment;

  // The compiler reads two doubles at a time, also the one past an odd end.
  static __host__ __device__ std::size_t shared_bytes(const pair_panel& panel) {
    return sizeof(double) * static_cast<std::size_t>(panel.rows.columns / 2 * 2 + 2);
  }
  __device__ naive_tile(const pair_panel& panel, unsigned char* shared)
      : panel_(panel), row_(reinterpret_cast<double*>(shared)) {}

  __device__ void start(index_t first_row, const column_span& columns) {
    columns_ = columns;
    const double* row = row_of_operand(panel_.rows, first_row);
    for (index_t k = threadIdx.x; k < panel_.rows.columns; k += shape.threads) row_[k] = row[k];
    __syncthreads();
  }
  __device__ void inverse_norms(int at, float (&inverse)[1]) const {
    read_inverse_norms(panel_.cols, columns_, *this, at, inverse);
  }
  __device__ int row_of(int) const { return 0; }
  __device__ int col_of(int) const { return static_cast<int>(threadIdx.x); }

  template <class Count, class Add>
  __device__ void add_rows(const Count (&counts)[1], const Add& add) const {
    add(0, counts[0]);
  }
  template <class Counts, class Add>
  __device__ void add_cols(const Counts& counts, const Add& add) const {
    add(col_of(0), counts.of(0));
  }

 protected:
  static __device__ const double* row_of_operand(const pair_operand& side, index_t i) {
    return static_cast<const double*>(side.values) + i * side.pitch;
  }
  const pair_panel& panel_;
  double* row_;
  column_span columns_{};
};

class naive_spearman_tile : public naive_tile<integer_fragment<1, 1>> {
 public:
  using statistic = spearman_statistic;
  using naive_tile::naive_tile;

  __device__ void multiply(int at, fragment& out) const {
    out.value[0][0] = 0;
    const index_t j = columns_.first + at + col_of(0);
    if (j >= panel_.cols.count) return;
    const double* col = row_of_operand(panel_.cols, j);
    for (index_t k = 0; k < panel_.cols.columns; ++k) {
      out.value[0][0] += centred_rank(row_, k) * centred_rank(col, k);
    }
  }

 private:
  // 2 (average rank) - (cols + 1): the values below less the values above.
  __device__ std::int64_t centred_rank(const double* row, index_t k) const {
    int rank = 0;
    for (index_t l = 0; l < panel_.cols.columns; ++l) {
      rank += static_cast<int>(row[l] < row[k]) - static_cast<int>(row[l] > row[k]);
    }
    return rank;
  }
};

/// The steps of detail::scale_unit_row as numbers, so that an element can be had without a
/// second array.
struct unit_row_steps {
  double scale;
  double means[2];
  double rest_scale;
  double length;

  __device__ unit_row_steps(const double* row, index_t cols, detail::row_centre centre)
      : scale(1), means{0, 0}, rest_scale(1), length(1) {
    const double count = static_cast<double>(cols);
    double largest = 0;
    for (index_t k = 0; k < cols; ++k) largest = fmax(largest, fabs(row[k]));
    scale = detail::power_of_two_scale(largest);
    for (double& mean : means) {
      if (!detail::is_centred(centre)) break;
      mean = detail::ordered_sum(cols, [&](index_t k) { return centred(row[k]); }) / count;
    }
    double rest = 0;
    for (index_t k = 0; k < cols; ++k) rest = fmax(rest, fabs(centred(row[k])));
    rest_scale = detail::power_of_two_scale(rest);
    const auto element = [&](index_t k) { return centred(row[k]) * rest_scale; };
    length = sqrt(detail::ordered_dot(cols, element, element));
  }
  // A mean that is not known yet is 0 and changes nothing.
  __device__ double centred(double x) const { return x * scale - means[0] - means[1]; }
  __device__ double of(double x) const { return centred(x) * rest_scale / length; }
};

class naive_pearson_tile : public naive_tile<unit_fragment<double, 1, 1>> {
 public:
  using statistic = pearson_statistic;
  using naive_tile::naive_tile;

  __device__ void multiply(int at, fragment& out) const {
    out.value[0][0] = CUDART_NAN;
    const index_t j = columns_.first + at + col_of(0);
    if (j >= panel_.cols.count || panel_.cols.square_sums[j] <= 0) return;
    const index_t cols = panel_.cols.columns;
    const double* col = row_of_operand(panel_.cols, j);
    const unit_row_steps x(row_, cols, panel_.rows.centre);
    const unit_row_steps y(col, cols, panel_.cols.centre);
    out.value[0][0] = detail::ordered_dot(
        cols, [&](index_t k) { return x.of(row_[k]); }, [&](index_t k) { return y.of(col[k]); });
  }
};

}  // namespace gpu::kernels
