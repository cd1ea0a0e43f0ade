// Products of unit rows in single precision, of rows split into halves: for dense results in float.
//
// An item is a tile of 256 x 192 pairs, which a cluster of two blocks shares, and a split of the
// columns, so that few rows have items enough to fill the device too. Persistent clusters take one
// item after the other; a warpgroup of each block copies, two multiply.

#include <algorithm>

#include "kernels/common/cluster.cuh"
#include "kernels/common/half_tile.cuh"
#include "kernels/common/launch.cuh"
#include "kernels/pairs/products/multiply.hpp"

namespace gpu::kernels {
namespace {

using layout = half_tile<192, 5>;
constexpr index_t tile_rows = index_t{layout::rows} * layout::cluster;
constexpr index_t tile_cols = layout::cols;
static_assert(policy::half_tile_rows == tile_rows && policy::half_tile_cols == tile_cols &&
              policy::half_cell_columns == half_cell_columns &&
              policy::half_cell_row_bytes == half_cell_row_bytes);
// A job in whole groups of rows: `shift` rows and columns before the first pair are computed too.
struct half_arguments {
  const std::byte* planes;
  index_t plane_rows;
  index_t plane_bytes;
  index_t cells;  // of a row
  index_t depth;  // cells of a split
  index_t first_row;
  index_t first_col;
  index_t row_shift;
  index_t col_shift;
  index_t end_row;
  index_t end_col;
  int down;
  int across;
  int band;  // tiles down that are taken together
  product_blocks blocks;
  row_limit limit;
  index_t items_of_part;
  index_t items;
  float* sums;
  index_t pitch;
  index_t part_step;

  // The first tile of a row of tiles that holds a product that is asked for.
  __host__ __device__ int first_tile(int down_tile) const {
    index_t column = 0;  // the first one that is needed, counted with the shift
    const index_t row = down_tile * tile_rows;
    if (blocks == product_blocks::above_diagonal) {
      column = first_row + row + 1 - first_col;
    } else if (blocks == product_blocks::on_or_above_it) {
      const index_t own = row > row_shift ? row - row_shift : 0;
      column = own / policy::product_block * policy::product_block + col_shift;
    }
    const index_t tile = column > 0 ? column / tile_cols : 0;
    return static_cast<int>(tile < across ? tile : across);
  }
  [[nodiscard]] __host__ __device__ int height(int first_down) const {
    return down - first_down < band ? down - first_down : band;
  }
};

#if defined(__CUDA_ARCH_FEAT_SM90_ALL)

// The cells of the items of a cluster. Left rows come to this block alone, right rows in halves to
// both blocks; a stage is empty once the warpgroups of both have released it.
struct half_walk {
  static constexpr int stages = layout::stages;
  static constexpr unsigned stage_bytes = layout::stage_bytes;
  static constexpr int consumers = layout::consumers;
  static constexpr int cluster = layout::cluster;
  static constexpr int half = layout::b_bytes / cluster;

  struct cursor {
    index_t item;
    index_t part;
    index_t row;  // of the first left row of the cluster's tile, among all
    index_t col;
  };
  struct load {
    const std::byte* left;
    const std::byte* right;
    index_t count;  // cells that are left, this one included
  };

  const half_arguments& args;
  int rank;  // of the block in its cluster

  __device__ __forceinline__ index_t first_item() const { return 0; }
  __device__ __forceinline__ bool locate(cursor& at) const {
    if (at.item >= args.items) return false;
    at.part = at.item / args.items_of_part;
    index_t rest = at.item - at.part * args.items_of_part;
    for (int first_down = 0;; first_down += args.band) {
      const int first = args.first_tile(first_down);
      const int height = args.height(first_down);
      const index_t count = index_t{args.across - first} * height;
      if (rest < count) {
        const index_t down = first_down + rest % height;
        const index_t across = first + rest / height;
        // The last tiles begin earlier, so that all that they read is there.
        at.row = min(args.first_row + down * tile_rows, args.plane_rows - tile_rows);
        at.col = min(args.first_col + across * tile_cols, args.plane_rows - tile_cols);
        return true;
      }
      rest -= count;
    }
  }
  __device__ __forceinline__ index_t cells_of(const cursor& at) const {
    return min(args.depth, args.cells - at.part * args.depth);
  }
  __device__ __forceinline__ load first_load(const cursor& at) const {
    const std::byte* const plane = args.planes + at.part * args.depth * args.plane_bytes;
    const index_t left = at.row + index_t{rank} * layout::rows;
    return {plane + left * half_cell_row_bytes, plane + at.col * half_cell_row_bytes + rank * half,
            cells_of(at)};
  }
  __device__ __forceinline__ bool next(load& here) const {
    here.left += args.plane_bytes;
    here.right += args.plane_bytes;
    return --here.count != 0;
  }
  __device__ __forceinline__ void issue(const load& here, unsigned memory, unsigned full) const {
    constexpr unsigned short everyone = (1U << cluster) - 1;
    bulk_copy(memory, here.left, layout::a_bytes, full);
    bulk_copy_to_cluster(memory + layout::a_bytes + rank * half, here.right, half, full, everyone);
  }
};

// Stores a warpgroup's 64 x 192 sums.
__device__ __forceinline__ void store_sums(const half_arguments& args, index_t part,
                                           index_t first_row, index_t first_col,
                                           const float (&sums)[layout::cols / 2]) {
  const int thread = static_cast<int>(threadIdx.x % 128);
  const index_t row = first_row + thread / 32 * 16 + thread % 32 / 4;
  const index_t col = first_col + thread % 4 * 2;
  float* const to = args.sums + part * args.part_step + (row - args.first_row) * args.pitch +
                    (col - args.first_col);
#pragma unroll
  for (int h = 0; h < 2; ++h) {
    if (row + 8 * h < args.first_row || row + 8 * h >= args.end_row) continue;
#pragma unroll
    for (int j = 0; j < layout::cols / 8; ++j) {
      // Of two neighbours the first one is at an even place.
      if (col + 8 * j < args.first_col || col + 8 * j >= args.end_col) continue;
      *reinterpret_cast<float2*>(to + 8 * h * args.pitch + 8 * j) =
          make_float2(sums[4 * j + 2 * h], sums[4 * j + 2 * h + 1]);
    }
  }
}

__device__ __forceinline__ void multiply_items(const half_arguments& args,
                                               const warpgroup_stream<half_walk>& stream,
                                               int group) {
  ring_position<layout::stages> position{0, 0};
  for (auto at = stream.first_item(); stream.walk.locate(at); stream.next_item(at)) {
    float sums[layout::cols / 2];
    multiply_pairs<layout>(stream, position, group, stream.walk.cells_of(at), sums);
    store_sums(args, at.part, at.row + index_t{stream.walk.rank} * layout::rows + group * 64,
               at.col, sums);
  }
}

#endif

__global__ void GPU_SIMILARITY_CLUSTER(layout::cluster) __launch_bounds__(layout::threads, 1)
    multiply_halves_of_rows(const __grid_constant__ half_arguments args) {
#if defined(__CUDA_ARCH_FEAT_SM90_ALL)
  if (args.limit.leaves_out(0)) return;  // of the whole cluster
  extern __shared__ unsigned char shared_memory[];
  __shared__ stream_storage<half_walk> storage;
  const half_walk walk{args, cluster_rank()};
  const warpgroup_stream<half_walk> stream{
      walk, (shared_address(shared_memory) + 1023) / 1024 * 1024, storage};
  if (threadIdx.x == 0) stream.init();
  cluster_sync();
  const int group = static_cast<int>(threadIdx.x) / 128;
  if (group == 0) {
    asm volatile("setmaxnreg.dec.sync.aligned.u32 56;");
    if (threadIdx.x == 0) stream.issue_all();
  } else {
    asm volatile("setmaxnreg.inc.sync.aligned.u32 224;");
    multiply_items(args, stream, group - 1);
  }
  // No block leaves while the other may still signal it.
  cluster_sync();
#endif
}

// Tiles down that are taken together where a panel has many: the clusters at work then share left
// rows as well as right ones.
constexpr int wide_band = 8;

}  // namespace

void launch_multiply_halves(const half_product_job& job, cudaStream_t stream) {
  constexpr index_t group = tiled_extents::group;
  half_arguments args{};
  args.planes = job.planes;
  args.plane_rows = job.plane_rows;
  args.plane_bytes = job.plane_rows * half_cell_row_bytes;
  args.cells = job.cells;
  args.depth = job.depth;
  args.row_shift = job.first_row % group;
  args.col_shift = job.first_col % group;
  args.first_row = job.first_row - args.row_shift;
  args.first_col = job.first_col - args.col_shift;
  args.end_row = job.first_row + job.rows;
  args.end_col = job.first_col + job.cols;
  args.down = static_cast<int>(ceil_div(args.end_row - args.first_row, tile_rows));
  args.across = static_cast<int>(ceil_div(args.end_col - args.first_col, tile_cols));
  args.band = args.down > wide_band ? wide_band : 1;
  args.blocks = job.blocks;
  args.limit = job.limit;
  for (int down = 0; down < args.down; down += args.band) {
    args.items_of_part += index_t{args.across - args.first_tile(down)} * args.height(down);
  }
  args.items = args.items_of_part * job.to.parts;
  if (args.items == 0) return;
  args.pitch = job.to.pitch;
  args.part_step = job.to.part_step;
  args.sums = reinterpret_cast<float*>(job.to.sums) + job.to.first - args.row_shift * args.pitch -
              args.col_shift;
  allow_shared_memory(multiply_halves_of_rows, layout::shared_bytes);
  const unsigned clusters = grid_blocks(
      args.items, 1, std::max(cuda::current_limits().multiprocessors / layout::cluster, 1));
  multiply_halves_of_rows<<<clusters * layout::cluster, layout::threads, layout::shared_bytes,
                            stream>>>(args);
  GPU_SIMILARITY_CHECK_LAUNCH();
}

}  // namespace gpu::kernels
