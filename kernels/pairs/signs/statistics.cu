// S of all pairs of a panel by 8-bit products (mma.sync), exact in 32 bits, and what stands for tau
// of each.
//
// A block of 8 warps (2 x 4) takes 128 x 128 pairs, a warp 64 x 32. Pieces of 64 signs of the rows
// stream through a ring of stages. A dot product does not care about the order of its terms: lane t
// of a quad takes bytes 16 t .. 16 t + 15 of a piece for two steps, one load of 128 bits. The sums
// go through shared memory, half of the rows at a time, so that the decision stands once in the
// code and neighbouring lanes store neighbouring pairs.

#include <cstdint>

#include "kernels/common/async_copy.cuh"
#include "kernels/common/launch.cuh"
#include "kernels/common/mma_sync.cuh"
#include "kernels/pairs/products/multiply.hpp"
#include "kernels/pairs/signs/kernels.hpp"
#include "stats/significance/kendall_decision.hpp"

namespace gpu::kernels {
namespace {

constexpr int threads = 256;
constexpr int tile = 128;  // rows and columns of a block
constexpr int warp_rows = 64;
constexpr int warp_cols = 32;
constexpr int row_tiles = warp_rows / 16;
constexpr int col_tiles = warp_cols / 8;
constexpr int stages = 3;
constexpr int piece = static_cast<int>(sign_row_layout::piece);
constexpr int side_bytes = tile * piece;
constexpr int stage_bytes = 2 * side_bytes;
// Of the sums in shared memory: rows of quads do not meet in its banks.
constexpr int sum_pitch = tile + 8;
constexpr int ties_bytes = 2 * tile * static_cast<int>(sizeof(row_ties));
static_assert(ties_bytes + 2 * tile + warp_rows * sum_pitch * 4 <= stages * stage_bytes);
static_assert(tile == policy::product_block);

struct sign_arguments : pairwise_job {
  stats::kendall_decision by;
};

__device__ const std::byte* row_of(const pair_operand& side, index_t row) {
  return static_cast<const std::byte*>(side.values) + row * side.pitch * 8;
}

// A piece of 128 rows of one side; zeros of rows that are not there.
__device__ void load_side(const pair_operand& side, index_t first, int at, unsigned char* out) {
#pragma unroll
  for (int copy = 0; copy < tile * 4 / threads; ++copy) {
    const int chunk = copy * threads + static_cast<int>(threadIdx.x);
    const index_t row = first + chunk / 4;
    const bool there = row < side.count;
    const std::byte* const from =
        row_of(side, there ? row : 0) + index_t{at} * piece + chunk % 4 * 16;
    async_copy_16(out + chunk * 16, from, there);
  }
}

// Where the sums of this thread lie in the tile: of the mma.sync grid.
struct place {
  int warp_row = static_cast<int>(threadIdx.x / 32) / 4;
  int warp_col = static_cast<int>(threadIdx.x / 32) % 4;
  int quad = static_cast<int>(threadIdx.x % 32) / 4;
  int lane = static_cast<int>(threadIdx.x % 4);
};

using sums_of_thread = int[row_tiles][col_tiles][4];

__device__ void add_piece(const unsigned char* stage, const place& at, sums_of_thread& sums) {
  const auto load = [&](int row) {
    return *reinterpret_cast<const int4*>(stage + row * piece + at.lane * 16);
  };
  int4 b[col_tiles];
#pragma unroll
  for (int j = 0; j < col_tiles; ++j) {
    b[j] = load(tile + at.warp_col * warp_cols + j * 8 + at.quad);
  }
#pragma unroll
  for (int i = 0; i < row_tiles; ++i) {
    const int row = at.warp_row * warp_rows + i * 16 + at.quad;
    const int4 low = load(row);
    const int4 high = load(row + 8);
#pragma unroll
    for (int j = 0; j < col_tiles; ++j) {
      mma_s8(sums[i][j], {low.x, high.x, low.y, high.y}, {b[j].x, b[j].y});
      mma_s8(sums[i][j], {low.z, high.z, low.w, high.w}, {b[j].z, b[j].w});
    }
  }
}

__device__ void multiply_rows(const sign_arguments& args, index_t first_row, index_t first_col,
                              unsigned char* shared, const place& at, sums_of_thread& sums) {
  const auto pieces = static_cast<int>(sign_row_layout{args.rows.columns}.pieces());
  const auto load = [&](int p) {
    if (p < pieces) {
      unsigned char* const stage = shared + p % stages * stage_bytes;
      load_side(args.rows, first_row, p, stage);
      load_side(args.cols, first_col, p, stage + side_bytes);
    }
    async_copy_commit();
  };
  for (int p = 0; p < stages - 1; ++p) load(p);
  for (int p = 0; p < pieces; ++p) {
    async_copy_wait<stages - 2>();
    __syncthreads();  // the piece is there, and the one before it was taken
    load(p + stages - 1);
    add_piece(shared + p % stages * stage_bytes, at, sums);
  }
  async_copy_wait<0>();
  __syncthreads();
}

// The ties of the rows and of the columns of a tile, and whether they have a statistic.
struct tile_terms {
  row_ties* ties;          // [2 tile]
  unsigned char* present;  // [2 tile]
  int* sums;               // [warp_rows, sum_pitch]

  explicit __device__ tile_terms(unsigned char* shared)
      : ties(reinterpret_cast<row_ties*>(shared)),
        present(shared + ties_bytes),
        sums(reinterpret_cast<int*>(shared + ties_bytes + 2 * tile)) {}

  __device__ void load(const sign_arguments& args, index_t first_row, index_t first_col) const {
    const int own = static_cast<int>(threadIdx.x);
    const bool of_rows = own < tile;
    const pair_operand& side = of_rows ? args.rows : args.cols;
    const index_t row = of_rows ? first_row + own : first_col + own - tile;
    const bool there = row < side.count && side.square_sums[row] > 0;
    const index_t sign_bytes = sign_row_layout{side.columns}.sign_bytes();
    present[own] = there ? 1 : 0;
    ties[own] =
        there ? *reinterpret_cast<const row_ties*>(row_of(side, row) + sign_bytes) : row_ties{};
  }
};
static_assert(threads == 2 * tile);

// Decides half of the rows, whose sums are in shared memory.
__device__ void write_half(const sign_arguments& args, const tile_terms& terms, index_t first_row,
                           index_t first_col, int half) {
  const int c = static_cast<int>(threadIdx.x) % tile;
  const index_t col = first_col + c;
  if (col >= args.cols.count) return;
  const row_ties y = terms.ties[tile + c];
  const bool has_y = terms.present[tile + c] != 0;
  for (int r = static_cast<int>(threadIdx.x) / tile; r < warp_rows; r += threads / tile) {
    const int in_tile = half * warp_rows + r;
    const index_t row = first_row + in_tile;
    if (row >= args.rows.count) return;
    double value = detail::no_statistic;
    if (has_y && terms.present[in_tile] != 0) {
      value = stats::decide_kendall(args.by, terms.sums[r * sum_pitch + c], terms.ties[in_tile], y);
    }
    args.to.sums[args.to.first + row * args.to.pitch + col] = value;
  }
}

__global__ void __launch_bounds__(threads, 2)
    sign_statistics(const __grid_constant__ sign_arguments args) {
  extern __shared__ __align__(16) unsigned char shared[];
  const index_t first_row = index_t{blockIdx.y} * tile;
  const index_t first_col = index_t{blockIdx.x} * tile;
  if (!is_tile_wanted(args, first_row, first_col + tile - 1)) return;
  const place at;
  sums_of_thread sums = {};
  multiply_rows(args, first_row, first_col, shared, at, sums);
  const tile_terms terms(shared);
  terms.load(args, first_row, first_col);
#pragma unroll 1
  for (int half = 0; half < 2; ++half) {
    __syncthreads();  // the half before has been read
    if (at.warp_row == half) {
#pragma unroll
      for (int i = 0; i < row_tiles; ++i) {
#pragma unroll
        for (int j = 0; j < col_tiles; ++j) {
          int* const to = terms.sums + (i * 16 + at.quad) * sum_pitch + at.warp_col * warp_cols +
                          j * 8 + at.lane * 2;
          *reinterpret_cast<int2*>(to) = make_int2(sums[i][j][0], sums[i][j][1]);
          *reinterpret_cast<int2*>(to + 8 * sum_pitch) = make_int2(sums[i][j][2], sums[i][j][3]);
        }
      }
    }
    __syncthreads();
    write_half(args, terms, first_row, first_col, half);
  }
}

}  // namespace

void launch_sign_statistics(const pairwise_job& job, const stats::kendall_decision& by,
                            cudaStream_t stream) {
  const dim3 blocks(static_cast<unsigned>(ceil_div(job.cols.count, index_t{tile})),
                    static_cast<unsigned>(ceil_div(job.rows.count, index_t{tile})));
  constexpr std::size_t bytes = std::size_t{stages} * stage_bytes;
  allow_shared_memory(sign_statistics, bytes);
  const sign_arguments args{job, by};
  sign_statistics<<<blocks, threads, bytes, stream>>>(args);
  GPU_SIMILARITY_CHECK_LAUNCH();
}

}  // namespace gpu::kernels
