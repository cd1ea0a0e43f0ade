// Products of limbs of few long rows: tiles of warpgroups would multiply padding almost alone. A
// block takes 2 x 4 pairs, all pairs of limbs and a split of the columns; a thread takes 16 columns
// at a time by dp4a.

#include "kernels/common/launch.cuh"
#include "kernels/common/warp.cuh"
#include "kernels/pairs/products/multiply.hpp"

namespace gpu::kernels {
namespace {

constexpr int threads = 256;
constexpr int tile_rows = 2;
constexpr int tile_cols = 4;
constexpr int pieces_of_plane = policy::limb_plane_columns / 16;

struct few_rows_job {
  limb_product_job job;
  int row_tiles;
  int splits;
  product_blocks blocks;
  index_t offset;  // as is_tile_wanted asks for
};

// The limbs of 16 columns of a row: piece `piece` of plane `plane` of each limb.
template <int limbs>
__device__ void load(const limb_product_job& job, index_t row, int plane, int piece,
                     int4 (&out)[limbs]) {
  const index_t plane_bytes = job.plane_rows * policy::limb_plane_columns;
  const std::int8_t* from = job.planes + plane * plane_bytes +
                            row / 8 * (8 * policy::limb_plane_columns) + piece * 128 + row % 8 * 16;
#pragma unroll
  for (int l = 0; l < limbs; ++l) {
    out[l] = __ldg(reinterpret_cast<const int4*>(from + l * job.planes_of_limb * plane_bytes));
  }
}

__device__ int add_products(const int4& x, const int4& y, int sum) {
  return __dp4a(x.w, y.w, __dp4a(x.z, y.z, __dp4a(x.y, y.y, __dp4a(x.x, y.x, sum))));
}

template <int limbs>
__global__ void __launch_bounds__(threads)
    multiply_few_limbs(const __grid_constant__ few_rows_job args) {
  constexpr int sums_of_pair = limbs * limbs;
  constexpr int all_sums = tile_rows * tile_cols * sums_of_pair;
  const limb_product_job& job = args.job;
  const index_t first_row = index_t{blockIdx.x} % args.row_tiles * tile_rows;
  const index_t first_col = index_t{blockIdx.x} / args.row_tiles * tile_cols;
  if (!is_tile_wanted(args, first_row, first_col + tile_cols - 1)) return;
  if (job.limit.leaves_out(first_row)) return;

  int sums[tile_rows][tile_cols][limbs][limbs] = {};
  const int split = static_cast<int>(blockIdx.y);
  const int last = min((split + 1) * job.depth, job.planes_of_limb) * pieces_of_plane;
  for (int at = split * job.depth * pieces_of_plane + static_cast<int>(threadIdx.x); at < last;
       at += threads) {
    const int plane = at / pieces_of_plane;
    const int piece = at % pieces_of_plane;
    int4 left[tile_rows][limbs];
#pragma unroll
    for (int r = 0; r < tile_rows; ++r) {
      load<limbs>(job, job.first_row + min(first_row + r, job.rows - 1), plane, piece, left[r]);
    }
#pragma unroll
    for (int c = 0; c < tile_cols; ++c) {
      int4 right[limbs];
      load<limbs>(job, job.first_col + min(first_col + c, job.cols - 1), plane, piece, right);
#pragma unroll
      for (int r = 0; r < tile_rows; ++r) {
#pragma unroll
        for (int a = 0; a < limbs; ++a) {
#pragma unroll
          for (int b = 0; b < limbs; ++b) {
            sums[r][c][a][b] = add_products(left[r][a], right[b], sums[r][c][a][b]);
          }
        }
      }
    }
  }

  __shared__ int of_warp[threads / 32][all_sums];
  const int warp = static_cast<int>(threadIdx.x) / 32;
#pragma unroll
  for (int i = 0; i < all_sums; ++i) {
    const int sum = warp_sum((&sums[0][0][0][0])[i]);
    if (threadIdx.x % 32 == 0) of_warp[warp][i] = sum;
  }
  __syncthreads();
  for (int i = static_cast<int>(threadIdx.x); i < all_sums; i += threads) {
    const index_t row = first_row + i / (tile_cols * sums_of_pair);
    const index_t col = first_col + i / sums_of_pair % tile_cols;
    if (row >= job.rows || col >= job.cols) continue;
    int sum = 0;
    for (int w = 0; w < threads / 32; ++w) sum += of_warp[w][i];
    const int part = i % sums_of_pair * args.splits + split;
    auto* const to = reinterpret_cast<std::int32_t*>(job.to.sums) + job.to.first;
    to[part * job.to.part_step + row * job.to.pitch + col] = sum;
  }
}

template <int limbs>
void launch(const few_rows_job& args, cudaStream_t stream) {
  const index_t tiles = args.row_tiles * ceil_div(args.job.cols, index_t{tile_cols});
  const dim3 blocks(grid_blocks(tiles, 1), static_cast<unsigned>(args.splits));
  multiply_few_limbs<limbs><<<blocks, threads, 0, stream>>>(args);
  GPU_SIMILARITY_CHECK_LAUNCH();
}

}  // namespace

void launch_multiply_few_limbs(const limb_product_job& job, cudaStream_t stream) {
  if (job.rows == 0 || job.cols == 0) return;
  const few_rows_job args{.job = job,
                          .row_tiles = static_cast<int>(ceil_div(job.rows, index_t{tile_rows})),
                          .splits = job.to.parts / (job.limbs * job.limbs),
                          .blocks = job.blocks,
                          .offset = job.first_col - job.first_row};
  job.limbs == 2 ? launch<2>(args, stream) : launch<3>(args, stream);
}

}  // namespace gpu::kernels
