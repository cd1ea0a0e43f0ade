// Pearson and cosine of rows with missing values: five sums a pair over the columns that both rows
// have, in the order of the columns. A block takes 64 rows by 64 columns of pairs; a thread has
// four by four of them in registers, and steps of eight columns of the table come through shared
// memory. Where rows are taken by classes of equal masks, four of the sums are there already.

#include "kernels/common/launch.cuh"
#include "kernels/pairs/pairwise/decide.cuh"
#include "kernels/pairs/pairwise/kernels.hpp"
#include "kernels/pairs/pairwise/panel_tile.cuh"
#include "kernels/pairs/pairwise/value_pair.cuh"
#include "kernels/pairs/products/multiply.hpp"

namespace gpu::kernels {
namespace {

constexpr int tile = 64;
constexpr int side = 4;  // pairs of a thread, down and across
constexpr int threads_across = tile / side;
constexpr int threads = threads_across * threads_across;
constexpr int step = 8;  // columns of the table at a time

// Columns [begin, begin + step) of 64 rows: values, and 1 where they are there. They are fetched
// while the columns before are multiplied. A column has one more place, so that neighbours in a
// column of the table do not meet in one bank.
class staged {
 public:
  static constexpr int pitch = tile + 1;
  double value[step][pitch];
  double present[step][pitch];
};

template <bool classed>
class next_columns {
 public:
  __device__ void fetch(const pair_operand& from, index_t first, index_t begin) {
#pragma unroll
    for (int e = 0; e < elements; ++e) {
      const index_t row = first + row_of(e);
      const index_t col = begin + col_of(e);
      value_[e] = 0;
      present_[e] = 0;
      if (row >= from.count || col >= from.columns) continue;
      const double* const own = static_cast<const double*>(from.values) + row * from.pitch;
      value_[e] = own[col];
      if constexpr (classed) continue;
      const double raw = own[pairwise_value_layout{from.columns}.raw() + col];
      present_[e] = raw == raw ? 1.0 : 0.0;
    }
  }
  __device__ void store(staged& to) const {
#pragma unroll
    for (int e = 0; e < elements; ++e) {
      to.value[col_of(e)][row_of(e)] = value_[e];
      if constexpr (!classed) to.present[col_of(e)][row_of(e)] = present_[e];
    }
  }

 private:
  static constexpr int elements = step * tile / threads;
  static __device__ int col_of(int e) {
    return (static_cast<int>(threadIdx.x) + e * threads) % step;
  }
  static __device__ int row_of(int e) {
    return (static_cast<int>(threadIdx.x) + e * threads) / step;
  }
  double value_[elements];
  double present_[elements];
};

template <bool classed>
__global__ void __launch_bounds__(threads, 1)
    pairwise_values(const __grid_constant__ pairwise_job job) {
  __shared__ staged left;
  __shared__ staged right;
  const index_t first_row = index_t{blockIdx.y} * tile;
  const index_t first_col = index_t{blockIdx.x} * tile;
  if (!is_tile_wanted(job, first_row, first_col + tile - 1)) return;
  const int down = static_cast<int>(threadIdx.x) / threads_across;
  const int across = static_cast<int>(threadIdx.x) % threads_across;
  detail::shared_sums sums[side][side];
  const index_t cols = job.rows.columns;
  next_columns<classed> of_rows;
  next_columns<classed> of_cols;
  of_rows.fetch(job.rows, first_row, 0);
  of_cols.fetch(job.cols, first_col, 0);
  for (index_t begin = 0; begin < cols; begin += step) {
    __syncthreads();
    of_rows.store(left);
    of_cols.store(right);
    __syncthreads();
    of_rows.fetch(job.rows, first_row, begin + step);
    of_cols.fetch(job.cols, first_col, begin + step);
#pragma unroll 2
    for (int k = 0; k < step; ++k) {
      double x[side];
      double has_x[side];
      double xx[side];
      double y[side];
      double has_y[side];
      double yy[side];
#pragma unroll
      for (int s = 0; s < side; ++s) {
        x[s] = left.value[k][down + s * threads_across];
        y[s] = right.value[k][across + s * threads_across];
        if constexpr (classed) continue;
        has_x[s] = left.present[k][down + s * threads_across];
        xx[s] = x[s] * x[s];
        has_y[s] = right.present[k][across + s * threads_across];
        yy[s] = y[s] * y[s];
      }
#pragma unroll
      for (int r = 0; r < side; ++r) {
#pragma unroll
        for (int c = 0; c < side; ++c) {
          detail::shared_sums& own = sums[r][c];
          own.xy = fma(x[r], y[c], own.xy);
          if constexpr (classed) continue;
          own.x = fma(x[r], has_y[c], own.x);
          own.y = fma(has_x[r], y[c], own.y);
          own.xx = fma(xx[r], has_y[c], own.xx);
          own.yy = fma(has_x[r], yy[c], own.yy);
        }
      }
    }
  }
  const pairwise_value_layout layout{cols};
#pragma unroll
  for (int r = 0; r < side; ++r) {
#pragma unroll
    for (int c = 0; c < side; ++c) {
      const index_t i = first_row + down + r * threads_across;
      const index_t j = first_col + across + c * threads_across;
      if (i >= job.rows.count || j >= job.cols.count) continue;
      double& to = job.to.sums[job.to.first + i * job.to.pitch + j];
      if constexpr (classed) {
        to = finish_class_values(job, i, j, sums[r][c].xy);
      } else {
        const auto bits = [&](const pair_operand& of, index_t row) {
          return reinterpret_cast<const std::uint64_t*>(value_row(of, row) + layout.mask());
        };
        index_t shared = 0;
        for (index_t w = 0; w < mask_words(cols); ++w) {
          shared += __popcll(bits(job.rows, i)[w] & bits(job.cols, j)[w]);
        }
        const double statistic =
            detail::statistic_of_sums(sums[r][c], static_cast<double>(shared), job.rows.centre);
        to = finish_values(job, i, j, statistic, shared);
      }
    }
  }
}

}  // namespace

void launch_pairwise_values(const pairwise_job& job, cudaStream_t stream) {
  if (job.classes.on_tensor_cores) return launch_class_values(job, stream);
  const auto kernel = job.classes.count != 0 ? pairwise_values<true> : pairwise_values<false>;
  kernel<<<tiles_of(job, tile, tile), threads, 0, stream>>>(job);
  GPU_SIMILARITY_CHECK_LAUNCH();
}

}  // namespace gpu::kernels
