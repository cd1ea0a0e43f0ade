// Pearson and cosine of rows with missing values that are taken by classes of equal masks: one sum
// of products a pair, on the double-precision tensor cores. The other sums are there already.

#include "kernels/common/launch.cuh"
#include "kernels/common/tensor_double.cuh"
#include "kernels/common/tile_place.cuh"
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

__global__ void __launch_bounds__(layout::threads, layout::blocks_per_multiprocessor)
    class_value_statistics(const __grid_constant__ pairwise_job job) {
  extern __shared__ __align__(16) unsigned char shared_memory[];
  const tile_place place(blockIdx.x, ceil_div(job.rows.count, layout::block_rows),
                         ceil_div(job.cols.count, layout::block_cols));
  const index_t tile_row = place.row * layout::block_rows;
  const index_t tile_col = place.col * layout::block_cols;
  if (!is_wanted(job, tile_row, tile_col, layout::block_cols)) return;
  const int lane = static_cast<int>(threadIdx.x) % 32;
  const int warp = static_cast<int>(threadIdx.x) / 32;
  const int row = warp % layout::warps_down * layout::rows_of_warp + lane / 4;
  const int col = warp / layout::warps_down * layout::cols_of_warp;
  const index_t cols = job.rows.columns;
  const tile_source<double> x{static_cast<const double*>(job.rows.values), job.rows.pitch, 1,
                              tile_row, job.rows.count};
  const tile_source<double> y{static_cast<const double*>(job.cols.values), job.cols.pitch, 1,
                              tile_col, job.cols.count};
  feeder feed{reinterpret_cast<double*>(shared_memory), feeder::a_stream(x, cols),
              feeder::b_stream(y, cols)};
  double sum[layout::down][layout::across][4] = {};
  multiply_steps_f64<layout>(feed, ceil_div(cols, layout::depth), row, col + lane / 4, sum);

  // Neighbours are stored together: rows of the sums begin at multiples of product_block.
#pragma unroll
  for (int r = 0; r < 2 * layout::down; ++r) {
    const index_t i = tile_row + row + 8 * r;
    if (i >= job.rows.count) continue;
#pragma unroll
    for (int c = 0; c < layout::across; ++c) {
      const index_t j = tile_col + col + 8 * c + lane % 4 * 2;
      if (j >= job.cols.count) continue;
      const double* const own = sum[r / 2][c] + r % 2 * 2;
      double2 out = make_double2(finish_class_values(job, i, j, own[0]), detail::no_statistic);
      if (j + 1 < job.cols.count) out.y = finish_class_values(job, i, j + 1, own[1]);
      const index_t at = job.to.first + i * job.to.pitch + j;
      if (job.to.kept != nullptr) {
        const std::uint32_t kept = (out.x == out.x ? 1U : 0U) | (out.y == out.y ? 2U : 0U);
        if (kept == 0) continue;
        mark_kept(job.to, at, kept);
      }
      *reinterpret_cast<double2*>(job.to.sums + at) = out;
    }
  }
}

}  // namespace

void launch_class_values(const pairwise_job& job, cudaStream_t stream) {
  clear_kept(job, stream);
  allow_shared_memory(class_value_statistics, feeder::shared_bytes);
  const unsigned blocks = grid_blocks(
      ceil_div(job.rows.count, layout::block_rows) * ceil_div(job.cols.count, layout::block_cols),
      1);
  class_value_statistics<<<blocks, layout::threads, feeder::shared_bytes, stream>>>(job);
  GPU_SIMILARITY_CHECK_LAUNCH();
}

}  // namespace gpu::kernels
