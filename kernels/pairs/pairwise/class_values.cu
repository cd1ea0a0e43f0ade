// Pearson and cosine of rows with missing values that are taken by classes of equal masks: one sum
// of products a pair, on the double-precision tensor cores. The other sums are there already.
//
// Where every statistic is written, tiles are neighbouring rows and columns. Where few pairs are
// kept, they are rows of one class with columns of one: what decides them is the same for all, and
// each row has one sum.

#include "kernels/common/launch.cuh"
#include "kernels/common/tensor_double.cuh"
#include "kernels/common/tile_place.cuh"
#include "kernels/pairs/pairwise/class_tiles.cuh"
#include "kernels/pairs/pairwise/kernels.hpp"
#include "kernels/pairs/pairwise/value_pair.cuh"
#include "kernels/pairs/products/multiply.hpp"
#include "plan/matmul_policy.hpp"

namespace gpu::kernels {
namespace {

constexpr auto tile = matmul_policy::tensor_double_tile(matmul_policy::tile_name::medium);
using layout = tensor_layout_f64<tile.block_m, tile.block_n, tile.block_k, tile.warp_m, tile.warp_n,
                                 tile.stages, 1, tile.blocks>;
using feeder = tile_feeder_f64<layout, tile_order::by_lane, 2, tile_order::by_lane, 2>;
static_assert(policy::product_block % layout::block_rows == 0 &&
              policy::product_block % layout::block_cols == 0);

// Of a lane in its tile: the first of its rows, eight apart, and of its pairs of columns.
struct lane_place {
  int row;
  int col;

  __device__ lane_place() {
    const int lane = static_cast<int>(threadIdx.x) % 32;
    const int warp = static_cast<int>(threadIdx.x) / 32;
    row = warp % layout::warps_down * layout::rows_of_warp + lane / 4;
    col = warp / layout::warps_down * layout::cols_of_warp;
  }
  // Of the column that it multiplies.
  [[nodiscard]] __device__ int multiplied_col() const {
    return col + static_cast<int>(threadIdx.x) % 32 / 4;
  }
  [[nodiscard]] __device__ int first_of(int pair) const {
    return col + 8 * pair + static_cast<int>(threadIdx.x) % 4 * 2;
  }
};

__global__ void __launch_bounds__(layout::threads, layout::blocks_per_multiprocessor)
    class_value_statistics(const __grid_constant__ pairwise_job job) {
  extern __shared__ __align__(16) unsigned char shared_memory[];
  const tile_place place(blockIdx.x, ceil_div(job.rows.count, layout::block_rows),
                         ceil_div(job.cols.count, layout::block_cols));
  const index_t tile_row = place.row * layout::block_rows;
  const index_t tile_col = place.col * layout::block_cols;
  if (!is_tile_wanted(job, tile_row, tile_col + layout::block_cols - 1)) return;
  const lane_place lane;
  const index_t cols = job.rows.columns;
  const tile_source<double> x{static_cast<const double*>(job.rows.values), job.rows.pitch, 1,
                              tile_row, job.rows.count};
  const tile_source<double> y{static_cast<const double*>(job.cols.values), job.cols.pitch, 1,
                              tile_col, job.cols.count};
  feeder feed{reinterpret_cast<double*>(shared_memory), feeder::a_stream(x, cols),
              feeder::b_stream(y, cols)};
  double sum[layout::down][layout::across][4] = {};
  multiply_steps_f64<layout>(feed, ceil_div(cols, layout::depth), lane.row, lane.multiplied_col(),
                             sum);

  // Neighbours are stored together: rows of the sums begin at multiples of product_block.
#pragma unroll
  for (int r = 0; r < 2 * layout::down; ++r) {
    const index_t i = tile_row + lane.row + 8 * r;
    if (i >= job.rows.count) continue;
#pragma unroll
    for (int c = 0; c < layout::across; ++c) {
      const index_t j = tile_col + lane.first_of(c);
      if (j >= job.cols.count) continue;
      const double* const own = sum[r / 2][c] + r % 2 * 2;
      double2 out = make_double2(finish_class_values(job, i, j, own[0]), detail::no_statistic);
      if (j + 1 < job.cols.count) out.y = finish_class_values(job, i, j + 1, own[1]);
      const index_t at = job.to.first + i * job.to.pitch + j;
      *reinterpret_cast<double2*>(job.to.sums + at) = out;
    }
  }
}

// Marks and writes the kept pairs of a tile of two classes.
__device__ void finish_tile(const pairwise_job& job, const mask_class_tile& rows,
                            const mask_class_tile& cols, const lane_place& lane,
                            const double (&sum)[layout::down][layout::across][4]) {
  constexpr int pairs = layout::across;
  const mask_classes& by = job.classes;
  const index_t shared = __ldg(by.shared + rows.of * by.count + cols.of);
  const auto count = static_cast<double>(shared);
  const shared_decision decision(job.decision, shared);
  index_t col[2 * pairs];
  double2 of_col[2 * pairs];  // mask_classes::sums
#pragma unroll
  for (int c = 0; c < 2 * pairs; ++c) {
    const std::uint32_t place = cols.begin + static_cast<unsigned>(lane.first_of(c / 2) + c % 2);
    col[c] = __ldg(by.order + min(place, cols.end - 1));
    of_col[c] = __ldg(by.sums + col[c] * by.count + rows.of);
  }
#pragma unroll
  for (int r = 0; r < 2 * layout::down; ++r) {
    const std::uint32_t row_place = rows.begin + static_cast<unsigned>(lane.row + 8 * r);
    if (row_place >= rows.end) continue;
    const index_t row = __ldg(by.order + row_place);
    const double2 of_row = __ldg(by.sums + row * by.count + cols.of);
#pragma unroll
    for (int c = 0; c < 2 * pairs; ++c) {
      const double products = sum[r / 2][c / 2][r % 2 * 2 + c % 2];
      const double covariance =
          detail::shared_covariance(products, of_row.x, of_col[c].x, count, job.rows.centre);
      if (decision.drops(covariance * of_row.y * of_col[c].y)) continue;
      const std::uint32_t place = cols.begin + static_cast<unsigned>(lane.first_of(c / 2) + c % 2);
      if (place >= cols.end) continue;
      const index_t i = row - job.rows.first;
      const index_t j = col[c] - job.cols.first;
      store_statistic(job.to, job.to.first + i * job.to.pitch + j,
                      finish_class_values(job, i, j, products));
    }
  }
}

__global__ void __launch_bounds__(layout::threads, layout::blocks_per_multiprocessor)
    keep_class_values(const __grid_constant__ pairwise_job job) {
  static_assert(layout::block_rows == layout::block_cols);
  extern __shared__ __align__(16) unsigned char shared_memory[];
  __shared__ mask_class_tiles<layout::block_rows> sides[2];
  const mask_classes& by = job.classes;
  sides[0].bounds.find(by, job.rows.first, job.rows.first + job.rows.count);
  sides[1].bounds.find(by, job.cols.first, job.cols.first + job.cols.count);
  __syncthreads();
  if (threadIdx.x < 2) sides[threadIdx.x].count(by.count);
  __syncthreads();
  const index_t down = sides[0].first[by.count];
  const index_t across = sides[1].first[by.count];
  const lane_place lane;
  for (index_t number = blockIdx.x; number < down * across; number += gridDim.x) {
    const tile_place place(number, down, across);
    const mask_class_tile rows = sides[0].at(static_cast<std::uint32_t>(place.row));
    const mask_class_tile cols = sides[1].at(static_cast<std::uint32_t>(place.col));
    if (!is_tile_wanted(job, by.order[rows.begin] - job.rows.first,
                        by.order[cols.end - 1] - job.cols.first)) {
      continue;
    }
    const auto source = [&](const mask_class_tile& tile) {
      return tile_source<double>{by.values, by.value_pitch, 1, tile.begin, tile.end};
    };
    feeder feed{reinterpret_cast<double*>(shared_memory),
                feeder::a_stream(source(rows), by.value_pitch),
                feeder::b_stream(source(cols), by.value_pitch)};
    double sum[layout::down][layout::across][4] = {};
    multiply_steps_f64<layout>(feed, ceil_div(by.value_pitch, index_t{layout::depth}), lane.row,
                               lane.multiplied_col(), sum);
    __pipeline_wait_prior(0);
    finish_tile(job, rows, cols, lane, sum);
    __syncthreads();  // everyone has read the last stages
  }
}

}  // namespace

void launch_class_values(const pairwise_job& job, cudaStream_t stream) {
  if (job.to.kept != nullptr) {
    clear_kept(job, stream);
    allow_shared_memory(keep_class_values, feeder::shared_bytes);
    const auto blocks = static_cast<unsigned>(layout::blocks_per_multiprocessor *
                                              cuda::current_limits().multiprocessors);
    keep_class_values<<<blocks, layout::threads, feeder::shared_bytes, stream>>>(job);
    GPU_SIMILARITY_CHECK_LAUNCH();
    return;
  }
  allow_shared_memory(class_value_statistics, feeder::shared_bytes);
  const unsigned blocks = grid_blocks(
      ceil_div(job.rows.count, layout::block_rows) * ceil_div(job.cols.count, layout::block_cols),
      1);
  class_value_statistics<<<blocks, layout::threads, feeder::shared_bytes, stream>>>(job);
  GPU_SIMILARITY_CHECK_LAUNCH();
}

}  // namespace gpu::kernels
