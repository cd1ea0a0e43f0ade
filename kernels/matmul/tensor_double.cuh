#pragma once
// Variant `tensor` for double: C by kernels/common/tensor_double.cuh, which is register_tiled with
// other instructions.

#include "kernels/common/launch.cuh"
#include "kernels/common/tensor_double.cuh"
#include "kernels/common/tile_place.cuh"
#include "kernels/matmul/kernels.hpp"

namespace gpu::kernels {

/// A block computes a tile of C, a warp rows_of_warp x cols_of_warp of it. Shared memory: `stages`
/// tiles of A and B.
template <class Layout, tile_order a_order, int a_items, tile_order b_order, int b_items>
__global__ void __launch_bounds__(Layout::threads, Layout::blocks_per_multiprocessor)
    matmul_tensor_f64(const __grid_constant__ matmul_problem<double> p) {
  using feeder_type = tile_feeder_f64<Layout, a_order, a_items, b_order, b_items>;
  extern __shared__ __align__(16) unsigned char shared_memory[];
  const tile_place place(blockIdx.x, ceil_div(p.m, Layout::block_rows),
                         ceil_div(p.n, Layout::block_cols));
  const index_t first_row = place.row * Layout::block_rows;
  const index_t first_col = place.col * Layout::block_cols;
  const tile_source<double> a_source{p.a.data, p.a.row_step, p.a.col_step, first_row, p.m};
  const tile_source<double> b_source{p.b.data, p.b.col_step, p.b.row_step, first_col, p.n};
  feeder_type feeder{reinterpret_cast<double*>(shared_memory),
                     typename feeder_type::a_stream(a_source, p.k),
                     typename feeder_type::b_stream(b_source, p.k)};
  const int lane = static_cast<int>(threadIdx.x) % 32;
  const int warp = static_cast<int>(threadIdx.x) / 32;
  const int warp_row = warp % Layout::warps_down * Layout::rows_of_warp;
  const int warp_col = warp / Layout::warps_down * Layout::cols_of_warp;
  double sum[Layout::down][Layout::across][4] = {};
  multiply_steps_f64<Layout>(feeder, ceil_div(p.k, Layout::depth), warp_row + lane / 4,
                             warp_col + lane / 4, sum);
  store_tile_f64<Layout>(sum, p.c, p.c_stride, first_row + warp_row + lane / 4,
                         first_col + warp_col + lane % 4 * 2, p.m, p.n);
}

template <class Layout, tile_order a_order, int a_items, tile_order b_order, int b_items>
void launch_tensor_f64_kernel(const matmul_problem<double>& p, cudaStream_t stream) {
  constexpr std::size_t bytes =
      tile_feeder_f64<Layout, a_order, a_items, b_order, b_items>::shared_bytes;
  const auto kernel = matmul_tensor_f64<Layout, a_order, a_items, b_order, b_items>;
  allow_shared_memory(kernel, bytes);
  const unsigned blocks =
      grid_blocks(ceil_div(p.m, Layout::block_rows) * ceil_div(p.n, Layout::block_cols), 1);
  kernel<<<blocks, Layout::threads, bytes, stream>>>(p);
  GPU_SIMILARITY_CHECK_LAUNCH();
}

/// The kernel for how both operands lie; where either is not aligned, both go value by value.
template <class Layout>
void launch_tensor_f64_layout(const matmul_problem<double>& p, cudaStream_t stream) {
  using enum tile_order;
  const auto in_pairs = [](const double* data, index_t other_step, index_t lanes) {
    return reinterpret_cast<std::size_t>(data) % 16 == 0 && other_step % 2 == 0 && lanes % 2 == 0;
  };
  const bool a_by_lane = p.a.col_step == 1;
  const bool b_by_lane = p.b.row_step == 1;
  const bool pairs =
      (a_by_lane ? in_pairs(p.a.data, p.a.row_step, 0) : in_pairs(p.a.data, p.a.col_step, p.m)) &&
      (b_by_lane ? in_pairs(p.b.data, p.b.col_step, 0) : in_pairs(p.b.data, p.b.row_step, p.n));
  const auto launch = [&]<tile_order a, tile_order b>() {
    if (pairs) {
      launch_tensor_f64_kernel<Layout, a, 2, b, 2>(p, stream);
    } else {
      launch_tensor_f64_kernel<Layout, a, 1, b, 1>(p, stream);
    }
  };
  if (a_by_lane) {
    b_by_lane ? launch.template operator()<by_lane, by_lane>()
              : launch.template operator()<by_lane, by_depth>();
  } else {
    b_by_lane ? launch.template operator()<by_depth, by_lane>()
              : launch.template operator()<by_depth, by_depth>();
  }
}

}  // namespace gpu::kernels
