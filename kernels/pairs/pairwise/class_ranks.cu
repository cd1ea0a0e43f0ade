// Spearman of rows with missing values that are taken by classes of equal masks: a pair of classes
// is a block of complete rows, each ranked over the columns that the two classes share, and its
// products are those of 8-bit integers on the tensor cores.
//
// A tile is 64 rows of one class by 64 of another, which lie anywhere in the panel. Each of its
// four warps takes 32 by 32 pairs and loads its rows from global memory: lane t of a quad takes
// bytes 16 t .. 16 t + 15 of a piece of 64 columns for two steps. A launch before lists the tiles
// of the panel by pairs of classes; the blocks of the second one walk them.

#include <cub/block/block_scan.cuh>

#include "kernels/common/launch.cuh"
#include "kernels/common/mma_sync.cuh"
#include "kernels/pairs/frame/kernel.cuh"
#include "kernels/pairs/pairwise/decide.cuh"
#include "kernels/pairs/pairwise/kernels.hpp"
#include "kernels/pairs/products/multiply.hpp"
#include "stats/statistic.hpp"

namespace gpu::kernels {
namespace {

constexpr int tile = 64;
constexpr int threads = 128;
constexpr int warps_across = 2;
constexpr int warp_tile = 32;  // rows and columns of a warp
constexpr int row_tiles = warp_tile / 16;
constexpr int col_tiles = warp_tile / 8;
constexpr int piece = 64;  // columns
constexpr int scan_threads = 1024;
constexpr int blocks_of_multiprocessor = 4;

// mask_classes::work of a launch: where the rows and the columns of the panel begin and end in the
// rows of each class, and the number of the first tile of each pair of classes.
struct class_work {
  std::uint32_t* memory;
  int count;
  [[nodiscard]] __device__ std::uint32_t* bounds(int which) const { return memory + which * count; }
  [[nodiscard]] __device__ std::uint32_t* row_begin() const { return bounds(0); }
  [[nodiscard]] __device__ std::uint32_t* row_end() const { return bounds(1); }
  [[nodiscard]] __device__ std::uint32_t* col_begin() const { return bounds(2); }
  [[nodiscard]] __device__ std::uint32_t* col_end() const { return bounds(3); }
  [[nodiscard]] __device__ std::uint32_t* first_tile() const { return bounds(4); }
};

__device__ std::uint32_t tiles_of(std::uint32_t begin, std::uint32_t end) {
  return (end - begin + tile - 1) / tile;
}

// One block.
__global__ void __launch_bounds__(scan_threads)
    list_class_tiles(const __grid_constant__ pairwise_job job) {
  using scan = cub::BlockScan<std::uint32_t, scan_threads>;
  __shared__ typename scan::TempStorage storage;
  const mask_classes& by = job.classes;
  const class_work work{by.work, by.count};
  for (int at = static_cast<int>(threadIdx.x); at < 4 * by.count; at += scan_threads) {
    const int which = at / by.count;
    const int of = at % by.count;
    const pair_operand& side = which < 2 ? job.rows : job.cols;
    const index_t bound = side.first + (which % 2 == 0 ? 0 : side.count);
    std::uint32_t begin = by.begins[of];
    for (std::uint32_t end = by.begins[of + 1]; begin < end;) {
      const std::uint32_t middle = begin + (end - begin) / 2;
      if (by.order[middle] < bound) {
        begin = middle + 1;
      } else {
        end = middle;
      }
    }
    work.bounds(which)[of] = begin;
  }
  __syncthreads();
  std::uint32_t before = 0;
  const int pairs = by.count * by.count;
  for (int first = 0; first < pairs; first += scan_threads) {
    const int pair = first + static_cast<int>(threadIdx.x);
    std::uint32_t tiles = 0;
    if (pair < pairs) {
      const int a = pair / by.count;
      const int b = pair % by.count;
      tiles = tiles_of(work.row_begin()[a], work.row_end()[a]) *
              tiles_of(work.col_begin()[b], work.col_end()[b]);
    }
    std::uint32_t place = 0;
    std::uint32_t all = 0;
    scan(storage).ExclusiveSum(tiles, place, all);
    if (pair < pairs) work.first_tile()[pair] = before + place;
    before += all;
    __syncthreads();
  }
  if (threadIdx.x == 0) work.first_tile()[pairs] = before;
}

// The rows of one side of a tile, and the sums of squares of their ranks.
struct tile_side {
  std::uint32_t row[tile];
  std::int64_t squares[tile];
};

// What a tile is of.
struct class_tile {
  int row_class;
  int col_class;
  std::uint32_t row_begin;
  std::uint32_t row_end;
  std::uint32_t col_begin;
  std::uint32_t col_end;

  __device__ class_tile(const class_work& work, std::uint32_t number) {
    const std::uint32_t* const first = work.first_tile();
    int low = 0;
    for (int high = work.count * work.count - 1; low < high;) {
      const int middle = low + (high - low + 1) / 2;
      if (first[middle] <= number) {
        low = middle;
      } else {
        high = middle - 1;
      }
    }
    row_class = low / work.count;
    col_class = low % work.count;
    const std::uint32_t own = number - first[low];
    const std::uint32_t down = tiles_of(work.row_begin()[row_class], work.row_end()[row_class]);
    row_begin = work.row_begin()[row_class] + own % down * tile;
    row_end = min(row_begin + tile, work.row_end()[row_class]);
    col_begin = work.col_begin()[col_class] + own / down * tile;
    col_end = min(col_begin + tile, work.col_end()[col_class]);
  }
  [[nodiscard]] __device__ bool is_wanted(const pairwise_job& job) const {
    const index_t first_row = job.classes.order[row_begin];
    const index_t last_col = job.classes.order[col_end - 1];
    if (job.blocks == product_blocks::above_diagonal) return last_col > first_row;
    if (job.blocks == product_blocks::on_or_above_it) {
      return (last_col - job.cols.first) / policy::product_block >=
             (first_row - job.rows.first) / policy::product_block;
    }
    return true;
  }
};

// Sums of a product, each 128 times the weight of the one behind it.
template <int limbs>
using limb_sums = int[2 * limbs - 1][row_tiles][col_tiles][4];

template <int limbs>
__device__ std::int64_t total_of(const limb_sums<limbs>& sums, int i, int j, int e) {
  std::int64_t out = 0;
#pragma unroll
  for (int s = 0; s < 2 * limbs - 1; ++s) out = out * 128 + sums[s][i][j][e];
  return out;
}

template <int limbs>
__device__ void multiply_rows(const mask_classes& by, const class_tile& of, const tile_side& rows,
                              const tile_side& cols, int first_row, int first_col,
                              limb_sums<limbs>& sums) {
  const int quad = static_cast<int>(threadIdx.x % 32) / 4;
  const int lane = static_cast<int>(threadIdx.x % 4);
  const auto ranks = [&](const tile_side& side, int place, int with) {
    const index_t at = index_t{side.row[place]} * by.count + with;
    return by.ranks + at * limbs * by.pitch + lane * 16;
  };
  const std::int8_t* left[row_tiles][2];
  const std::int8_t* right[col_tiles];
#pragma unroll
  for (int i = 0; i < row_tiles; ++i) {
    left[i][0] = ranks(rows, first_row + i * 16 + quad, of.col_class);
    left[i][1] = ranks(rows, first_row + i * 16 + 8 + quad, of.col_class);
  }
#pragma unroll
  for (int j = 0; j < col_tiles; ++j) {
    right[j] = ranks(cols, first_col + j * 8 + quad, of.row_class);
  }
  for (index_t at = 0; at < by.pitch; at += piece) {
    int4 b[limbs][col_tiles];
#pragma unroll
    for (int l = 0; l < limbs; ++l) {
#pragma unroll
      for (int j = 0; j < col_tiles; ++j) {
        b[l][j] = __ldg(reinterpret_cast<const int4*>(right[j] + l * by.pitch + at));
      }
    }
#pragma unroll
    for (int i = 0; i < row_tiles; ++i) {
#pragma unroll
      for (int k = 0; k < limbs; ++k) {
        const int4 low = __ldg(reinterpret_cast<const int4*>(left[i][0] + k * by.pitch + at));
        const int4 high = __ldg(reinterpret_cast<const int4*>(left[i][1] + k * by.pitch + at));
#pragma unroll
        for (int l = 0; l < limbs; ++l) {
#pragma unroll
          for (int j = 0; j < col_tiles; ++j) {
            int(&sum)[4] = sums[k + l][i][j];
            mma_s8(sum, {low.x, high.x, low.y, high.y}, {b[l][j].x, b[l][j].y});
            mma_s8(sum, {low.z, high.z, low.w, high.w}, {b[l][j].z, b[l][j].w});
          }
        }
      }
    }
  }
}

template <int limbs>
__global__ void __launch_bounds__(threads)
    class_rank_statistics(const __grid_constant__ pairwise_job job) {
  __shared__ tile_side rows;
  __shared__ tile_side cols;
  const mask_classes& by = job.classes;
  const class_work work{by.work, by.count};
  const std::uint32_t tiles = work.first_tile()[by.count * by.count];
  const int warp = static_cast<int>(threadIdx.x / 32);
  const int first_row = warp / warps_across * warp_tile;
  const int first_col = warp % warps_across * warp_tile;
  const int quad = static_cast<int>(threadIdx.x % 32) / 4;
  const int lane = static_cast<int>(threadIdx.x % 4);
  for (std::uint32_t number = blockIdx.x; number < tiles; number += gridDim.x) {
    const class_tile of(work, number);
    if (!of.is_wanted(job)) continue;
    __syncthreads();  // the tile before has been read
    const int own = static_cast<int>(threadIdx.x) % tile;
    const bool of_rows = static_cast<int>(threadIdx.x) < tile;
    const std::uint32_t begin = of_rows ? of.row_begin : of.col_begin;
    const std::uint32_t end = of_rows ? of.row_end : of.col_end;
    const std::uint32_t row = by.order[min(begin + static_cast<std::uint32_t>(own), end - 1)];
    tile_side& side = of_rows ? rows : cols;
    side.row[own] = row;
    side.squares[own] =
        by.squares[index_t{row} * by.count + (of_rows ? of.col_class : of.row_class)];
    __syncthreads();

    limb_sums<limbs> sums = {};
    multiply_rows<limbs>(by, of, rows, cols, first_row, first_col, sums);
    const index_t shared = by.shared[of.row_class * by.count + of.col_class];
    const int row_count = static_cast<int>(of.row_end - of.row_begin);
    const int col_count = static_cast<int>(of.col_end - of.col_begin);
#pragma unroll
    for (int i = 0; i < row_tiles; ++i) {
#pragma unroll
      for (int j = 0; j < col_tiles; ++j) {
#pragma unroll
        for (int e = 0; e < 4; ++e) {
          const int r = first_row + i * 16 + e / 2 * 8 + quad;
          const int c = first_col + j * 8 + lane * 2 + e % 2;
          if (r >= row_count || c >= col_count) continue;
          const std::int64_t xx = rows.squares[r];
          const std::int64_t yy = cols.squares[c];
          const double rho = xx > 0 && yy > 0
                                 ? detail::rho_of(total_of<limbs>(sums, i, j, e), xx, yy)
                                 : detail::no_statistic;
          const index_t to =
              (rows.row[r] - job.rows.first) * job.to.pitch + (cols.row[c] - job.cols.first);
          job.to.sums[job.to.first + to] = decide_pairwise(job.decision, rho, shared);
        }
      }
    }
  }
}

}  // namespace

void launch_class_ranks(const pairwise_job& job, cudaStream_t stream) {
  list_class_tiles<<<1, scan_threads, 0, stream>>>(job);
  GPU_SIMILARITY_CHECK_LAUNCH();
  const auto blocks =
      static_cast<unsigned>(blocks_of_multiprocessor * cuda::current_limits().multiprocessors);
  const auto kernel = job.classes.limbs == 1 ? class_rank_statistics<1> : class_rank_statistics<2>;
  kernel<<<blocks, threads, 0, stream>>>(job);
  GPU_SIMILARITY_CHECK_LAUNCH();
}

}  // namespace gpu::kernels
