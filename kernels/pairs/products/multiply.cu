// Products of long unit rows on the double-precision tensor cores. The elements are split among
// blocks as well as the pairs, by the eight partial sums that define a product, so that few rows
// fill the device too.

#include "kernels/common/tensor_double.cuh"
#include "kernels/common/tile_place.cuh"
#include "kernels/pairs/products/multiply.hpp"
#include "plan/matmul_policy.hpp"

namespace gpu::kernels {
namespace {

using matmul_policy::tile_name;

template <class Layout, class Do>
__device__ __forceinline__ void for_each_sum(const Do& what) {
#pragma unroll
  for (int i = 0; i < Layout::down; ++i) {
#pragma unroll
    for (int j = 0; j < Layout::across; ++j) {
#pragma unroll
      for (int e = 0; e < 4; ++e) what(i, j, e);
    }
  }
}

// A block adds up `folded` sums one after the other: fewer parts pass through memory.
template <class Layout, int folded>
__global__ void __launch_bounds__(Layout::threads, Layout::blocks_per_multiprocessor)
    multiply_rows(const __grid_constant__ product_job job) {
  using feeder_type = tile_feeder_f64<Layout, tile_order::by_lane, 2, tile_order::by_lane, 2>;
  extern __shared__ __align__(16) unsigned char shared_memory[];
  const tile_place place(blockIdx.x, ceil_div(job.rows, Layout::block_rows),
                         ceil_div(job.cols, Layout::block_cols));
  const index_t first_row = place.row * Layout::block_rows;
  const index_t first_col = place.col * Layout::block_cols;
  if (!is_tile_wanted(job, first_row, first_col + Layout::block_cols - 1)) return;
  if (job.limit.leaves_out(first_row)) return;
  const int lane = static_cast<int>(threadIdx.x) % 32;
  const int warp = static_cast<int>(threadIdx.x) / 32;
  const int row = warp % Layout::warps_down * Layout::rows_of_warp;
  const int col = warp / Layout::warps_down * Layout::cols_of_warp;
  double before[Layout::down][Layout::across][4];
  double sum[Layout::down][Layout::across][4];
#pragma unroll 1
  for (int number = 0; number < folded; ++number) {
    const index_t begin = (index_t{blockIdx.y} * folded + number) * job.depth;
    const index_t depth = min(job.depth, job.elements - begin);
    const tile_source<double> x{job.x + begin, job.x_pitch, 1, first_row, job.rows};
    const tile_source<double> y{job.y + begin, job.y_pitch, 1, first_col, job.cols};
    feeder_type feeder{reinterpret_cast<double*>(shared_memory),
                       typename feeder_type::a_stream(x, depth),
                       typename feeder_type::b_stream(y, depth)};
    for_each_sum<Layout>([&](int i, int j, int e) {
      if constexpr (folded > 1) before[i][j][e] = number == 0 ? 0 : sum[i][j][e];
      sum[i][j][e] = 0;
    });
    multiply_steps_f64<Layout>(feeder, ceil_div(depth, Layout::depth), row + lane / 4,
                               col + lane / 4, sum);
    if constexpr (folded > 1) {
      __pipeline_wait_prior(0);
      __syncthreads();  // everyone has read the last stages
    }
  }
  if constexpr (folded > 1) {
    for_each_sum<Layout>(
        [&](int i, int j, int e) { sum[i][j][e] = before[i][j][e] + sum[i][j][e]; });
  }
  store_tile_f64<Layout>(sum, job.to.sums + blockIdx.y * job.to.part_step, job.to.pitch,
                         first_row + row + lane / 4, first_col + col + lane % 4 * 2, job.rows,
                         job.cols);
}

template <tile_name name, int folded>
void launch_tiles(const product_job& job, cudaStream_t stream) {
  constexpr auto tile = matmul_policy::tensor_double_tile(name);
  using layout = tensor_layout_f64<tile.block_m, tile.block_n, tile.block_k, tile.warp_m,
                                   tile.warp_n, tile.stages, 1, tile.blocks>;
  static_assert(policy::product_block % tile.block_m == 0 &&
                policy::product_block % tile.block_n == 0);
  constexpr std::size_t bytes =
      tile_feeder_f64<layout, tile_order::by_lane, 2, tile_order::by_lane, 2>::shared_bytes;
  allow_shared_memory(multiply_rows<layout, folded>, bytes);
  const dim3 blocks(
      grid_blocks(ceil_div(job.rows, layout::block_rows) * ceil_div(job.cols, layout::block_cols),
                  1),
      static_cast<unsigned>(job.to.parts));
  multiply_rows<layout, folded><<<blocks, layout::threads, bytes, stream>>>(job);
  GPU_SIMILARITY_CHECK_LAUNCH();
}

// Large tiles where they fill the device for some rounds, and sums are long enough to pay for the
// first loads of a tile, with which nothing overlaps; small ones where those of medium size leave
// half of the device idle.
constexpr index_t least_rounds = 3;

index_t wanted_tiles(const product_job& job, tile_name name) {
  const auto& tile = matmul_policy::tensor_double_tile(name);
  const index_t tiles = ceil_div(job.rows, index_t{tile.block_m}) *
                        ceil_div(job.cols, index_t{tile.block_n}) * job.to.parts;
  return job.blocks == product_blocks::all ? tiles : tiles / 2;
}

}  // namespace

void launch_multiply_rows(const product_job& job, cudaStream_t stream) {
  const index_t multiprocessors = cuda::current_limits().multiprocessors;
  if (wanted_tiles(job, tile_name::large) >= least_rounds * multiprocessors &&
      !takes_two_sums(job.depth)) {
    return launch_tiles<tile_name::large, 1>(job, stream);
  }
  if (2 * wanted_tiles(job, tile_name::medium) <= multiprocessors && job.folded == 1) {
    return launch_tiles<tile_name::small, 1>(job, stream);
  }
  if (job.folded == 2) return launch_tiles<tile_name::medium, 2>(job, stream);
  launch_tiles<tile_name::medium, 1>(job, stream);
}

}  // namespace gpu::kernels
