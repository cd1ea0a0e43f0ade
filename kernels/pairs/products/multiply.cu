// Products of long unit rows on the double-precision tensor cores. The elements are split among
// blocks as well as the pairs, by the eight partial sums that define a product, so that few rows
// fill the device too.

#include <algorithm>

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

// The tiles of x and y. Those of equal rows, on the diagonal, are one tile: it is read once.
template <class Layout>
struct row_feeder : tile_feeder_f64<Layout, tile_order::by_lane, 2, tile_order::by_lane, 2> {
  using base = tile_feeder_f64<Layout, tile_order::by_lane, 2, tile_order::by_lane, 2>;
  static_assert(Layout::block_rows == Layout::block_cols);
  bool is_one;

  [[nodiscard]] __device__ const double* first_b() const {
    return is_one ? base::stages : base::first_b();
  }
  __device__ void fetch(int stage) {
    double* const to = base::stages + stage * base::stage_size;
    base::load_a.load_next(to);
    if (!is_one) base::load_b.load_next(to + base::a_shape::size);
    __pipeline_commit();
  }
};

// With `adds` a block adds up the slices of a part one after the other: fewer parts pass through
// memory.
template <class Layout, bool adds>
__global__ void __launch_bounds__(Layout::threads, Layout::blocks_per_multiprocessor)
    multiply_rows(const __grid_constant__ product_job job) {
  using feeder_type = row_feeder<Layout>;
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
  const index_t segment = blockIdx.y / job.slices_apart;
  const index_t first = segment * job.segment + blockIdx.y % job.slices_apart * job.depth;
  const index_t end =
      adds ? first + job.segment : min(first + job.depth, (segment + 1) * job.segment);
  const bool is_one = job.x == job.y && job.rows == job.cols && first_row == first_col;
  double before[Layout::down][Layout::across][4];
  double sum[Layout::down][Layout::across][4];
#pragma unroll 1
  for (index_t begin = first; begin < end; begin += job.depth) {
    const index_t depth = min(job.depth, end - begin);
    const tile_source<double> x{job.x + begin, job.x_pitch, 1, first_row, job.rows};
    const tile_source<double> y{job.y + begin, job.y_pitch, 1, first_col, job.cols};
    feeder_type feeder{
        {reinterpret_cast<double*>(shared_memory), typename feeder_type::a_stream(x, depth),
         typename feeder_type::b_stream(y, depth)},
        is_one};
    for_each_sum<Layout>([&](int i, int j, int e) {
      if constexpr (adds) {
        before[i][j][e] = begin == first ? 0 : before[i][j][e] + sum[i][j][e];
      }
      sum[i][j][e] = 0;
    });
    multiply_steps_f64<Layout>(feeder, ceil_div(depth, Layout::depth), row + lane / 4,
                               col + lane / 4, sum);
    if constexpr (adds) {
      __pipeline_wait_prior(0);
      __syncthreads();  // everyone has read the last stages
    }
  }
  if constexpr (adds) {
    for_each_sum<Layout>(
        [&](int i, int j, int e) { sum[i][j][e] = before[i][j][e] + sum[i][j][e]; });
  }
  store_tile_f64<Layout>(sum, job.to.sums + blockIdx.y * job.to.part_step, job.to.pitch,
                         first_row + row + lane / 4, first_col + col + lane % 4 * 2, job.rows,
                         job.cols);
}

template <tile_name name, bool adds>
void launch_tiles(const product_job& job, cudaStream_t stream) {
  constexpr auto tile = matmul_policy::tensor_double_tile(name);
  using layout = tensor_layout_f64<tile.block_m, tile.block_n, tile.block_k, tile.warp_m,
                                   tile.warp_n, tile.stages, 1, tile.blocks>;
  static_assert(policy::product_block % tile.block_m == 0 &&
                policy::product_block % tile.block_n == 0);
  constexpr std::size_t bytes = row_feeder<layout>::shared_bytes;
  allow_shared_memory(multiply_rows<layout, adds>, bytes);
  const dim3 blocks(
      grid_blocks(ceil_div(job.rows, layout::block_rows) * ceil_div(job.cols, layout::block_cols),
                  1),
      static_cast<unsigned>(job.to.parts));
  multiply_rows<layout, adds><<<blocks, layout::threads, bytes, stream>>>(job);
  GPU_SIMILARITY_CHECK_LAUNCH();
}

constexpr int add_threads = 128;

// One partial sum of one pair a thread.
__global__ void __launch_bounds__(add_threads) add_slices(const __grid_constant__ product_job job) {
  const index_t at = index_t{blockIdx.x} * add_threads + threadIdx.x;
  const index_t pair = at % (job.rows * job.cols);
  const index_t segment = at / (job.rows * job.cols);
  const index_t i = pair / job.cols;
  const index_t j = pair % job.cols;
  if (segment >= detail::partial_sums || !is_tile_wanted(job, i, j) || job.limit.leaves_out(i)) {
    return;
  }
  const index_t step = job.to.part_step;
  double* const sums = job.to.sums + segment * job.slices_apart * step + i * job.to.pitch + j;
  double sum = sums[0];
#pragma unroll 16
  for (int s = 1; s < job.slices_apart; ++s) sum += sums[s * step];
  sums[0] = sum;
}

// Large tiles where they fill the device for some rounds, and sums are long enough to pay for the
// first loads of a tile, with which nothing overlaps; small ones where those of medium size leave
// half of the device idle, or would be padding for the most part.
constexpr index_t least_rounds = 3;
constexpr index_t small_side = matmul_policy::tensor_double_tile(tile_name::small).block_m;

index_t wanted_tiles(const product_job& job, tile_name name) {
  const auto& tile = matmul_policy::tensor_double_tile(name);
  const index_t tiles = ceil_div(job.rows, index_t{tile.block_m}) *
                        ceil_div(job.cols, index_t{tile.block_n}) * job.to.parts;
  return job.blocks == product_blocks::all ? tiles : tiles / 2;
}

}  // namespace

void launch_multiply_rows(const product_job& job, cudaStream_t stream) {
  const index_t multiprocessors = cuda::current_limits().multiprocessors;
  const bool adds = job.depth < job.segment && job.slices_apart == 1;
  if (wanted_tiles(job, tile_name::large) >= least_rounds * multiprocessors &&
      !takes_two_sums(job.depth)) {
    return launch_tiles<tile_name::large, false>(job, stream);
  }
  const bool is_thin = std::min(job.rows, job.cols) <= small_side;
  if ((is_thin || 2 * wanted_tiles(job, tile_name::medium) <= multiprocessors) && !adds) {
    return launch_tiles<tile_name::small, false>(job, stream);
  }
  if (adds) return launch_tiles<tile_name::medium, true>(job, stream);
  launch_tiles<tile_name::medium, false>(job, stream);
}

void launch_add_slices(const product_job& job, cudaStream_t stream) {
  const index_t sums = detail::partial_sums * job.rows * job.cols;
  add_slices<<<grid_blocks(sums, add_threads), add_threads, 0, stream>>>(job);
  GPU_SIMILARITY_CHECK_LAUNCH();
}

}  // namespace gpu::kernels
