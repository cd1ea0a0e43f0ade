// Products of limbs of centred ranks by 8-bit warpgroup products, exact in 32 bits.
//
// An item is a tile of 192 x 256 pairs, a pair of limbs, and a split of the columns: so few rows
// have items enough to fill the device too. Persistent blocks take one item after the other; tiles
// follow each other within a part, so that the blocks at work read the same columns of neighbouring
// rows. Sums go to memory as they stand in registers.

#include <algorithm>

#include "kernels/common/launch.cuh"
#include "kernels/common/s8_tile.cuh"
#include "kernels/pairs/products/multiply.hpp"

namespace gpu::kernels {
namespace {

static_assert(policy::limb_tile_rows == s8_tile_left && policy::limb_tile_cols == s8_tile_right &&
              policy::limb_plane_columns == s8_plane_columns);
static_assert(policy::plane_padding >= s8_tile_left && policy::plane_padding >= s8_tile_right);

constexpr int threads = 256;
constexpr int stages = 7;

// A thread brings 16 columns of a row to their place, or zeros.
__global__ void pack_planes(const std::int8_t* limbs, index_t rows, int limb_count, index_t columns,
                            index_t cols, index_t plane_rows, std::int8_t* out) {
  constexpr int pieces = s8_plane_columns / 16;
  const index_t planes = product_planes(cols);
  const index_t step = index_t{gridDim.x} * threads;
  const index_t count = plane_rows * limb_count * planes * pieces;
  for (index_t at = index_t{blockIdx.x} * threads + threadIdx.x; at < count; at += step) {
    // Neighbouring threads have neighbouring pieces of a row.
    const index_t piece = at % (planes * pieces);
    const index_t rest = at / (planes * pieces);
    const int limb = static_cast<int>(rest % limb_count);
    const index_t row = rest / limb_count;
    const index_t first = piece * 16;
    const std::int8_t* const from = limbs + (row * limb_count + limb) * columns + first;
    __align__(16) std::int8_t bytes[16] = {};
    if (row < rows && first + 16 <= cols) {  // `columns` is a multiple of 16
      *reinterpret_cast<int4*>(bytes) = *reinterpret_cast<const int4*>(from);
    } else if (row < rows) {
#pragma unroll
      for (int k = 0; k < 16; ++k) {
        if (first + k < cols) bytes[k] = from[k];
      }
    }
    const index_t plane = limb * planes + piece / pieces;
    std::int8_t* const to = out + plane * plane_rows * s8_plane_columns +
                            row / 8 * (8 * s8_plane_columns) + piece % pieces * 128 + row % 8 * 16;
    *reinterpret_cast<int4*>(to) = *reinterpret_cast<const int4*>(bytes);
  }
}

// A job in whole groups of rows: `shift` rows and columns before the first pair are computed too.
struct limb_arguments {
  const std::int8_t* planes;
  index_t plane_bytes;
  int limbs;
  int planes_of_limb;
  int depth;
  int splits;
  index_t first_row;
  index_t first_col;
  int row_shift;
  int col_shift;
  int rows;  // with the shift
  int panels;
  int tiles;
  product_blocks blocks;
  index_t offset;  // column number less row number of the first place
  int items_of_part;
  int items;
  row_limit limit;
  std::int32_t* sums;
  index_t pitch;
  index_t part_step;

  // The first tile of a panel that holds a pair that is asked for.
  __host__ __device__ int first_tile(int panel) const {
    index_t column = 0;  // the first one that is needed, counted with the shift
    const index_t row = index_t{panel} * s8_tile_left;
    if (blocks == product_blocks::above_diagonal) {
      column = row + 1 - offset;
    } else if (blocks == product_blocks::on_or_above_it) {
      const index_t own = row > row_shift ? row - row_shift : 0;
      column = own / policy::product_block * policy::product_block + col_shift;
    }
    const index_t tile = column > 0 ? column / s8_tile_right : 0;
    return static_cast<int>(tile < tiles ? tile : tiles);
  }
};

#if defined(__CUDA_ARCH_FEAT_SM90_ALL)

// The planes of the items of a block: a load is 64 columns of a limb of left rows and of a limb of
// right rows.
struct limb_walk {
  static constexpr int stages = kernels::stages;
  static constexpr unsigned stage_bytes = s8_stage_bytes;
  static constexpr int consumers = s8_warpgroups;
  // The stage that is filled next was released three steps ago: warpgroups may be that far apart.
  static constexpr int loads_ahead = stages - 3;
  static constexpr int cluster = 1;

  struct load {
    int panel;
    int tile;
    int left;   // plane
    int right;  // plane
    int count;  // planes that are left, this one included
  };
  struct cursor {
    int item;
    int panel;
    int tile;
    int part;
  };

  const limb_arguments& args;

  __device__ __forceinline__ int first_item() const { return 0; }
  __device__ __forceinline__ bool locate(cursor& at) const {
    if (at.item >= args.items) return false;
    at.part = at.item / args.items_of_part;
    int rest = at.item - at.part * args.items_of_part;
    for (int panel = 0;; ++panel) {
      const int first = args.first_tile(panel);
      const int count = args.tiles - first;
      if (rest < count) {
        at.panel = panel;
        at.tile = first + rest;
        return true;
      }
      rest -= count;
    }
  }
  // Planes of a part.
  __device__ __forceinline__ int planes_of(int part) const {
    return min(args.depth, args.planes_of_limb - part % args.splits * args.depth);
  }
  __device__ __forceinline__ load first_load(const cursor& at) const {
    const int pair = at.part / args.splits;
    const int first = at.part % args.splits * args.depth;
    return {at.panel, at.tile, pair / args.limbs * args.planes_of_limb + first,
            pair % args.limbs * args.planes_of_limb + first, planes_of(at.part)};
  }
  __device__ __forceinline__ bool next(load& here) const {
    ++here.left;
    ++here.right;
    return --here.count != 0;
  }
  __device__ __forceinline__ void issue(const load& here, unsigned memory, unsigned full) const {
    const index_t row = args.first_row + index_t{here.panel} * s8_tile_left;
    const index_t col = args.first_col + index_t{here.tile} * s8_tile_right;
    bulk_copy(memory, args.planes + here.left * args.plane_bytes + row * s8_plane_columns,
              s8_left_bytes, full);
    bulk_copy(memory + s8_left_bytes,
              args.planes + here.right * args.plane_bytes + col * s8_plane_columns, s8_right_bytes,
              full);
  }
};

// Stores the warpgroup's part of a tile.
__device__ __forceinline__ void store_sums(const limb_arguments& args, const limb_walk::cursor& at,
                                           int warpgroup, const int (&sums)[128]) {
  const int thread = static_cast<int>(threadIdx.x & 127U);
  const int first_row =
      at.panel * s8_tile_left + warpgroup * 64 + thread / 32 * 16 + thread % 32 / 4;
  std::int32_t* const to = args.sums + at.part * args.part_step + first_row * args.pitch +
                           at.tile * s8_tile_right + thread % 4 * 2;
#pragma unroll
  for (int h = 0; h < 2; ++h) {
    if (first_row + 8 * h >= args.rows) continue;
    std::int32_t* const row = to + 8 * h * args.pitch;
#pragma unroll
    for (int j = 0; j < s8_tile_right / 8; ++j) {
      *reinterpret_cast<int2*>(row + 8 * j) =
          make_int2(sums[4 * j + 2 * h], sums[4 * j + 2 * h + 1]);
    }
  }
}

#endif

__global__ void __launch_bounds__(s8_warpgroups * 128, 1)
    multiply_limbs(const __grid_constant__ limb_arguments args) {
#if defined(__CUDA_ARCH_FEAT_SM90_ALL)
  if (args.limit.leaves_out(0)) return;
  extern __shared__ __align__(1024) std::uint8_t shared[];
  __shared__ stream_storage<limb_walk> storage;
  const int warpgroup = __shfl_sync(~0U, static_cast<int>(threadIdx.x >> 7), 0);
  const limb_walk walk{args};
  const warpgroup_stream<limb_walk> stream{walk, shared_address(shared), storage};
  stream.start();
  const s8_operands operands(stream.first_stage, warpgroup);
  int sums[128];
  warpgroup_stream<limb_walk>::position position{0, 0};
#pragma unroll 1
  for (auto at = stream.first_item(); walk.locate(at); stream.next_item(at)) {
    multiply_planes(stream, operands, position, walk.planes_of(at.part), sums);
    store_sums(args, at, warpgroup, sums);
  }
#endif
}

}  // namespace

void launch_pack_planes(const std::int8_t* limbs, index_t rows, int limb_count, index_t columns,
                        index_t cols, index_t plane_rows, std::int8_t* out, cudaStream_t stream) {
  if (rows == 0) return;
  const index_t pieces = plane_rows * limb_count * product_planes(cols) * (s8_plane_columns / 16);
  pack_planes<<<grid_blocks(pieces, threads, 1 << 20), threads, 0, stream>>>(
      limbs, rows, limb_count, columns, cols, plane_rows, out);
  GPU_SIMILARITY_CHECK_LAUNCH();
}

void launch_multiply_limbs(const limb_product_job& job, cudaStream_t stream) {
  if (job.plane_rows <= most_few_rows) return launch_multiply_few_limbs(job, stream);
  constexpr index_t group = tiled_extents::group;
  limb_arguments args{};
  args.planes = job.planes;
  args.plane_bytes = job.plane_rows * s8_plane_columns;
  args.limbs = job.limbs;
  args.planes_of_limb = job.planes_of_limb;
  args.depth = job.depth;
  args.splits = job.to.parts / (job.limbs * job.limbs);
  args.row_shift = static_cast<int>(job.first_row % group);
  args.col_shift = static_cast<int>(job.first_col % group);
  args.first_row = job.first_row - args.row_shift;
  args.first_col = job.first_col - args.col_shift;
  args.rows = static_cast<int>(job.rows) + args.row_shift;
  args.panels = static_cast<int>(ceil_div(args.rows, s8_tile_left));
  args.tiles = static_cast<int>(ceil_div(job.cols + args.col_shift, s8_tile_right));
  args.blocks = job.blocks;
  args.limit = job.limit;
  args.offset = args.first_col - args.first_row;
  for (int panel = 0; panel < args.panels; ++panel) {
    args.items_of_part += args.tiles - args.first_tile(panel);
  }
  args.items = args.items_of_part * job.to.parts;
  if (args.items == 0) return;
  args.pitch = job.to.pitch;
  args.part_step = job.to.part_step;
  args.sums = reinterpret_cast<std::int32_t*>(job.to.sums) + job.to.first -
              args.row_shift * args.pitch - args.col_shift;
  constexpr std::size_t bytes = std::size_t{stages} * s8_stage_bytes;
  allow_shared_memory(multiply_limbs, bytes);
  const int blocks = std::min(args.items, cuda::current_limits().multiprocessors);
  multiply_limbs<<<static_cast<unsigned>(blocks), s8_warpgroups * 128, bytes, stream>>>(args);
  GPU_SIMILARITY_CHECK_LAUNCH();
}

}  // namespace gpu::kernels
