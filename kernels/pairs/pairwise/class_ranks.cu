// Spearman of rows with missing values that are taken by classes of equal masks: a pair of classes
// is a block of complete rows, each ranked over the columns that the two classes share, and its
// products are those of 8-bit integers on the tensor cores.
//
// A tile is 64 rows of one class, which lie anywhere in the panel, by a window of neighbouring
// columns of it, of all classes: what is written of a row lies together. The columns of the window
// are listed by class in shared memory. Each of four warps takes 16 rows with the columns of one
// class after the other, up to 32 at a time, and loads their ranks from global memory: lane t of a
// quad takes bytes 16 t .. 16 t + 15 of a piece of 64 columns for two steps.

#include "kernels/common/launch.cuh"
#include "kernels/common/mma_sync.cuh"
#include "kernels/pairs/frame/kernel.cuh"
#include "kernels/pairs/pairwise/class_tiles.cuh"
#include "kernels/pairs/pairwise/decide.cuh"
#include "kernels/pairs/pairwise/kernels.hpp"
#include "kernels/pairs/products/multiply.hpp"
#include "stats/statistic.hpp"

namespace gpu::kernels {
namespace {

constexpr int warps = 4;
constexpr int threads = 32 * warps;
constexpr int rows_of_warp = 16;
constexpr int rows_of_tile = warps * rows_of_warp;
constexpr int most_window = 512;  // columns of a tile
constexpr int narrow_window = 256;
constexpr int group = 32;  // columns of one class at a time
constexpr int col_tiles = group / 8;
constexpr int piece = 64;  // columns of the table
constexpr int blocks_of_multiprocessor = 8;

// Sums of a product, each 128 times the weight of the one behind it.
template <int limbs>
using limb_sums = int[2 * limbs - 1][col_tiles][4];

template <int limbs>
__device__ std::int64_t total_of(const limb_sums<limbs>& sums, int j, int e) {
  std::int64_t out = 0;
#pragma unroll
  for (int s = 0; s < 2 * limbs - 1; ++s) out = out * 128 + sums[s][j][e];
  return out;
}

// The columns of a window by class, ascending within each.
struct class_columns {
  class_bounds bounds;
  int first[most_mask_classes + 1];   // place below of each class
  std::uint32_t number[most_window];  // of all rows
  float root[most_window];            // mask_classes::roots with the class of the tile's rows

  // All threads: columns [begin, end) of all rows.
  __device__ void list(const mask_classes& by, int row_class, index_t begin, index_t end) {
    bounds.find(by, begin, end);
    __syncthreads();
    if (threadIdx.x < 32) number_classes(by.count);
    __syncthreads();
    for (index_t col = begin + threadIdx.x; col < end; col += threads) {
      const int of = __ldg(by.of_row + col);
      const int place = first[of] + static_cast<int>(__ldg(by.places + col) - bounds.begin[of]);
      number[place] = static_cast<std::uint32_t>(col);
      root[place] = __ldg(by.roots + col * by.count + row_class);
    }
    __syncthreads();
  }

 private:
  // One warp: a lane sums up two classes.
  __device__ void number_classes(int count) {
    static_assert(most_mask_classes == 64);
    const int lane = static_cast<int>(threadIdx.x);
    const auto size = [&](int of) {
      return of < count ? static_cast<int>(bounds.end[of] - bounds.begin[of]) : 0;
    };
    const int low = size(2 * lane);
    const int both = low + size(2 * lane + 1);
    int through = both;
#pragma unroll
    for (int step = 1; step < 32; step *= 2) {
      const int before = __shfl_up_sync(0xffffffffu, through, step);
      if (lane >= step) through += before;
    }
    first[2 * lane] = through - both;
    first[2 * lane + 1] = through - both + low;
    if (lane == 31) first[most_mask_classes] = through;
  }
};

// What a warp multiplies: the lane's two rows, and up to 32 columns of one class.
struct class_group {
  int row_class;
  int col_class;
  std::uint32_t row[2];  // of all rows
  int begin;             // of the columns, places in class_columns
  int end;

  [[nodiscard]] __device__ int tiles() const { return (end - begin + 7) / 8; }
  // The place of a column; that of the last one behind it.
  [[nodiscard]] __device__ int place(int column) const { return min(begin + column, end - 1); }
};

template <int limbs>
__device__ void multiply_group(const mask_classes& by, const class_columns& columns,
                               const class_group& of, limb_sums<limbs>& sums) {
  const int quad = static_cast<int>(threadIdx.x % 32) / 4;
  const int lane = static_cast<int>(threadIdx.x % 4);
  const int tiles = of.tiles();
  const auto ranks = [&](std::uint32_t row, int with) {
    return by.ranks + (index_t{row} * by.count + with) * limbs * by.pitch + lane * 16;
  };
  const std::int8_t* const left[2] = {ranks(of.row[0], of.col_class),
                                      ranks(of.row[1], of.col_class)};
  const std::int8_t* right[col_tiles];
#pragma unroll
  for (int j = 0; j < col_tiles; ++j) {
    right[j] = ranks(columns.number[of.place(j * 8 + quad)], of.row_class);
  }
  for (index_t at = 0; at < by.pitch; at += piece) {
    int4 a[limbs][2];
#pragma unroll
    for (int k = 0; k < limbs; ++k) {
#pragma unroll
      for (int half = 0; half < 2; ++half) {
        a[k][half] = __ldg(reinterpret_cast<const int4*>(left[half] + k * by.pitch + at));
      }
    }
#pragma unroll
    for (int j = 0; j < col_tiles; ++j) {
      if (j >= tiles) break;
#pragma unroll
      for (int l = 0; l < limbs; ++l) {
        const int4 b = __ldg(reinterpret_cast<const int4*>(right[j] + l * by.pitch + at));
#pragma unroll
        for (int k = 0; k < limbs; ++k) {
          int(&sum)[4] = sums[k + l][j];
          mma_s8(sum, {a[k][0].x, a[k][1].x, a[k][0].y, a[k][1].y}, {b.x, b.y});
          mma_s8(sum, {a[k][0].z, a[k][1].z, a[k][0].w, a[k][1].w}, {b.z, b.w});
        }
      }
    }
  }
}

// Writes the statistics of a group; `rows`: how many of its 16 there are.
template <int limbs>
__device__ void finish_group(const pairwise_job& job, const class_columns& columns,
                             const class_group& of, int rows, const limb_sums<limbs>& sums) {
  const mask_classes& by = job.classes;
  const int quad = static_cast<int>(threadIdx.x % 32) / 4;
  const int lane = static_cast<int>(threadIdx.x % 4);
  const shared_decision decision(job.decision,
                                 __ldg(by.shared + of.row_class * by.count + of.col_class));
  index_t of_class[2];  // of the rows, with the class of the columns
  float root[2];
#pragma unroll
  for (int half = 0; half < 2; ++half) {
    of_class[half] = index_t{of.row[half]} * by.count + of.col_class;
    root[half] = __ldg(by.roots + of_class[half]);
  }
#pragma unroll
  for (int j = 0; j < col_tiles; ++j) {
    if (j >= of.tiles()) break;
#pragma unroll
    for (int e = 0; e < 2; ++e) {
      const int place = of.begin + j * 8 + lane * 2 + e;
      if (place >= of.end) continue;
      const std::uint32_t col = columns.number[place];
      const float col_root = columns.root[place];
#pragma unroll
      for (int half = 0; half < 2; ++half) {
        if (quad + 8 * half >= rows) continue;
        const std::int64_t xy = total_of<limbs>(sums, j, 2 * half + e);
        // Most are dropped by an estimate; where cuts drop pairs, those that are kept are marked.
        if (decision.drops(static_cast<float>(xy) * root[half] * col_root)) continue;
        const std::int64_t xx = by.squares[of_class[half]];
        const std::int64_t yy = by.squares[index_t{col} * by.count + of.row_class];
        const double rho = detail::rho_or_none(xy, xx, yy);
        const double out = decision(rho);
        const index_t row = of.row[half] - job.rows.first;
        store_statistic(job.to, job.to.first + row * job.to.pitch + (col - job.cols.first), out);
      }
    }
  }
}

template <int limbs>
__global__ void __launch_bounds__(threads, limbs == 1 ? 5 : 3)
    class_rank_statistics(const __grid_constant__ pairwise_job job, int window) {
  __shared__ mask_class_tiles<rows_of_tile> tiles;
  __shared__ class_columns columns;
  const mask_classes& by = job.classes;
  tiles.bounds.find(by, job.rows.first, job.rows.first + job.rows.count);
  __syncthreads();
  if (threadIdx.x == 0) tiles.count(by.count);
  __syncthreads();
  const int first_of_warp = static_cast<int>(threadIdx.x / 32) * rows_of_warp;
  const int quad = static_cast<int>(threadIdx.x % 32) / 4;
  const auto windows = static_cast<std::uint32_t>((job.cols.count + window - 1) / window);
  const std::uint32_t count = tiles.first[by.count] * windows;
  for (std::uint32_t number = blockIdx.x; number < count; number += gridDim.x) {
    class_group of{};
    const mask_class_tile tile = tiles.at(number / windows);
    of.row_class = tile.of;
    const index_t first_col = index_t{number % windows} * window;
    const index_t last_col = min(first_col + window, job.cols.count) - 1;
    if (!is_tile_wanted(job, by.order[tile.begin] - job.rows.first, last_col)) continue;
    __syncthreads();  // the window before has been read
    columns.list(by, of.row_class, job.cols.first + first_col, job.cols.first + last_col + 1);
    const int rows = static_cast<int>(tile.end - tile.begin) - first_of_warp;
    if (rows <= 0) continue;
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      const auto place = static_cast<std::uint32_t>(first_of_warp + quad + 8 * half);
      of.row[half] = by.order[min(tile.begin + place, tile.end - 1)];
    }
    for (of.col_class = 0; of.col_class < by.count; ++of.col_class) {
      const int last = columns.first[of.col_class + 1];
      for (of.begin = columns.first[of.col_class]; of.begin < last; of.begin += group) {
        of.end = min(of.begin + group, last);
        limb_sums<limbs> sums = {};
        multiply_group<limbs>(by, columns, of, sums);
        finish_group<limbs>(job, columns, of, rows, sums);
      }
    }
  }
}

}  // namespace

void launch_class_ranks(const pairwise_job& job, cudaStream_t stream) {
  clear_kept(job, stream);
  const auto blocks =
      static_cast<unsigned>(blocks_of_multiprocessor * cuda::current_limits().multiprocessors);
  // Wide windows read the rows of a tile less often; in narrow ones what is written of a row lies
  // together, and there are more of them.
  const index_t tiles = ceil_div(job.rows.count, index_t{rows_of_tile}) *
                        ceil_div(job.cols.count, index_t{most_window});
  const int window = job.to.kept != nullptr && 4 * tiles >= blocks ? most_window : narrow_window;
  const auto kernel = job.classes.limbs == 1 ? class_rank_statistics<1> : class_rank_statistics<2>;
  kernel<<<blocks, threads, 0, stream>>>(job, window);
  GPU_SIMILARITY_CHECK_LAUNCH();
}

}  // namespace gpu::kernels
