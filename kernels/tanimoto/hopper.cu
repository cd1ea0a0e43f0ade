// Tanimoto similarities decided where their counts are: 1-bit warpgroup tensor cores (wgmma,
// compute capability 9.0), as kernels/binary_matmul/hopper.cu multiplies, without a result in
// memory.
//
// A thread screens its 128 counts in registers: a fused multiply-add and a comparison a pair, see
// src/stats/set_similarity.hpp. Where one of a warp's pairs passes, the warp leaves that group of
// 16 x 32 counts in shared memory, and goes through it with all lanes: exact decisions and the
// sink. A group without such pairs, the rule once a cut is strict or the best partners are good,
// costs the screen alone.
//
// Tiles that lie at or below the diagonal are left out where later columns alone are met. Shared
// memory: 4 * (192 + 256) * 64 bytes of stages, and 16 x 272 16-bit counts a warp.

#include <algorithm>

#include "kernels/binary_matmul/hopper_products.cuh"
#include "kernels/common/launch.cuh"
#include "kernels/common/warpgroup_stream.cuh"
#include "kernels/tanimoto/sinks.cuh"

namespace gpu::kernels {
namespace {

using namespace bit_hopper;

constexpr int threads = policy::warpgroups * 128;
constexpr int warp_bytes = 16 * count_pitch;
constexpr std::size_t shared_bytes = ring_bytes + policy::warpgroups * 4 * warp_bytes;

struct walk_arguments {
  bit_area area;
  int first_row_tile;
  int first_col_tile;
  int row_tiles;
  int col_tiles;
  int items;
  int stages;  // of the whole depth
};

#if defined(__CUDA_ARCH_FEAT_SM90_ALL)

struct tile_item {
  int item;
  int row;  // tiles of the operands
  int col;
};

// The stages of both operands, tile by tile: groups of row tiles, within a group column by column.
struct tile_walk {
  static constexpr int stages = policy::stages;
  static constexpr unsigned stage_bytes = bit_hopper::stage_bytes;
  static constexpr int consumers = policy::warpgroups;
  static constexpr int loads_ahead = stages - 1;
  static constexpr int cluster = 1;

  using cursor = tile_item;
  struct load {
    const std::uint8_t* a;
    const std::uint8_t* b;
    int left;
  };

  const walk_arguments& args;

  __device__ __forceinline__ int first_item() const { return 0; }
  __device__ __forceinline__ bool locate(cursor& at) const {
    for (; at.item < args.items; at.item += static_cast<int>(gridDim.x)) {
      const int per_group = policy::row_group * args.col_tiles;
      const int first = at.item / per_group * policy::row_group;
      const int rows = min(policy::row_group, args.row_tiles - first);
      const int within = at.item % per_group;
      at.row = args.first_row_tile + first + within % rows;
      at.col = args.first_col_tile + within / rows;
      if (args.area.met != bit_columns::later ||
          (at.col + 1) * index_t{policy::tile_cols} > at.row * index_t{policy::tile_rows} + 1) {
        return true;
      }
    }
    return false;
  }
  __device__ __forceinline__ load first_load(const cursor& at) const {
    return {reinterpret_cast<const std::uint8_t*>(args.area.left.words) +
                at.row * index_t{policy::tile_rows} * policy::depth_bytes,
            reinterpret_cast<const std::uint8_t*>(args.area.right.words) +
                at.col * index_t{policy::tile_cols} * policy::depth_bytes,
            args.stages};
  }
  __device__ __forceinline__ bool next(load& here) const {
    here.a += args.area.left.padded_rows * policy::depth_bytes;
    here.b += args.area.right.padded_rows * policy::depth_bytes;
    return --here.left != 0;
  }
  __device__ __forceinline__ void issue(const load& here, unsigned memory, unsigned full) const {
    bulk_copy(memory, here.a, left_bytes, full);
    bulk_copy(memory + left_bytes, here.b, right_bytes, full);
  }
};

using tile_stream = warpgroup_stream<tile_walk>;

// Of one of a thread's rows: what its counts have to reach.
struct row_screen {
  float right;
  float least;

  template <class Taker>
  __device__ __forceinline__ row_screen(const bit_area& area, const Taker& taker, index_t row) {
    const bool inside = area.rows.begin <= row && row < area.rows.end;
    const stats::set_screen by = inside ? taker.screen(row) : stats::set_screen{0, 0};
    right = by.right;
    least = inside ? by.left * static_cast<float>(area.left.row_offsets[row]) : INFINITY;
  }
  __device__ __forceinline__ bool passes(int common, float ones) const {
    return fmaf(-right, ones, static_cast<float>(common)) >= least;
  }
};

constexpr int groups = policy::tile_cols / 32;

// Bit g: one of the thread's pairs in columns 32 g to 32 g + 31 of the tile passes. `ones` are
// those of the tile's columns.
__device__ __forceinline__ unsigned screen_tile(const int (&sums)[128], const row_screen& top,
                                                const row_screen& bottom,
                                                const std::int32_t* ones) {
  const int lane = static_cast<int>(threadIdx.x) % 32;
  unsigned found = 0;
#pragma unroll
  for (int g = 0; g < groups; ++g) {
    bool any = false;
#pragma unroll
    for (int q = 0; q < 4; ++q) {
      const int j = g * 4 + q;
      const int2 pair = *reinterpret_cast<const int2*>(ones + j * 8 + lane % 4 * 2);
      const auto x = static_cast<float>(pair.x);
      const auto y = static_cast<float>(pair.y);
      any |= top.passes(sums[j * 4], x) | top.passes(sums[j * 4 + 1], y) |
             bottom.passes(sums[j * 4 + 2], x) | bottom.passes(sums[j * 4 + 3], y);
    }
    found |= any ? 1U << g : 0U;
  }
  return found;
}

// Takes the groups of a warp's 16 x 256 counts whose bit is set in `found`, the same in all lanes.
template <class Taker>
__device__ __forceinline__ void take_tile(const bit_area& area, Taker& taker,
                                          const int (&sums)[128], unsigned found,
                                          std::uint8_t* counts, index_t row, index_t col) {
  const int lane = static_cast<int>(threadIdx.x) % 32;
  put_counts(sums, counts);
  __syncwarp();
#pragma unroll 1
  for (; found != 0; found &= found - 1) {
    const int at = (__ffs(static_cast<int>(found)) - 1) * 32 + lane;
    take_group(area, taker, row, col + at, [&](int r) {
      return static_cast<int>(reinterpret_cast<const std::uint16_t*>(counts + r * count_pitch)[at]);
    });
  }
  __syncwarp();
}

#endif

template <class Sink>
__global__ void __launch_bounds__(threads, 1)
    tanimoto_hopper_kernel(const __grid_constant__ walk_arguments args,
                           const __grid_constant__ Sink sink) {
#if defined(__CUDA_ARCH_FEAT_SM90_ALL)
  extern __shared__ __align__(1024) std::uint8_t shared[];
  __shared__ stream_storage<tile_walk> storage;
  const int warpgroup = __shfl_sync(~0U, static_cast<int>(threadIdx.x >> 7), 0);
  const tile_walk walk{args};
  const tile_stream stream{walk, shared_address(shared), storage};
  std::uint8_t* counts = shared + ring_bytes + static_cast<int>(threadIdx.x) / 32 * warp_bytes;
  stream.start();

  typename taker_of<Sink>::type taker(sink, args.area.of);
  const bit_operands operands(stream.first_stage, warpgroup);
  int sums[128];
  tile_stream::position position{0, 0};
  unsigned last_stage = 0;
  for (tile_item item = stream.first_item(); walk.locate(item); stream.next_item(item)) {
    pin_registers(sums);
#pragma unroll 1
    for (int i = 0; i < args.stages; ++i) {
      stream.wait_until_full(position);
      wgmma_fence();
      multiply_stage(sums, operands, position.stage, i > 0);
      wgmma_wait<1>();
      if (i > 0) {
        stream.release(last_stage);
        stream.issue();
      }
      last_stage = position.stage;
      position.advance();
    }
    wgmma_wait<0>();
    pin_registers(sums);
    stream.release(last_stage);
    stream.issue();
    const index_t first_row =
        item.row * index_t{policy::tile_rows} + static_cast<int>(threadIdx.x) / 32 * 16;
    const index_t first_col = item.col * index_t{policy::tile_cols};
    const index_t own_row = first_row + threadIdx.x % 32 / 4;
    const row_screen top(args.area, taker, own_row);
    const row_screen bottom(args.area, taker, own_row + 8);
    const unsigned found = __reduce_or_sync(
        ~0U, screen_tile(sums, top, bottom, args.area.right.row_offsets + first_col));
    if (found != 0) take_tile(args.area, taker, sums, found, counts, first_row, first_col);
  }
#endif
}

}  // namespace

template <class Sink>
void launch_tanimoto_hopper(const bit_area& area, const Sink& sink, int multiprocessors,
                            cudaStream_t stream) {
  if (area.rows.empty() || area.cols.empty()) return;
  const index_t first_row = area.rows.begin / policy::tile_rows;
  const index_t first_col = area.cols.begin / policy::tile_cols;
  const index_t row_tiles = ceil_div(area.rows.end, policy::tile_rows) - first_row;
  const index_t col_tiles = ceil_div(area.cols.end, policy::tile_cols) - first_col;
  const walk_arguments args{
      .area = area,
      .first_row_tile = static_cast<int>(first_row),
      .first_col_tile = static_cast<int>(first_col),
      .row_tiles = static_cast<int>(row_tiles),
      .col_tiles = static_cast<int>(col_tiles),
      .items = static_cast<int>(row_tiles * col_tiles),
      .stages = static_cast<int>(area.left.chunks * (bit_chunk_bytes / policy::depth_bytes))};
  allow_shared_memory(tanimoto_hopper_kernel<Sink>, shared_bytes);
  const unsigned blocks = grid_blocks(args.items, 1, multiprocessors);
  tanimoto_hopper_kernel<Sink><<<blocks, threads, shared_bytes, stream>>>(args, sink);
  GPU_SIMILARITY_CHECK_LAUNCH();
}

template void launch_tanimoto_hopper(const bit_area&, const tanimoto_matrix<double>&, int,
                                     cudaStream_t);
template void launch_tanimoto_hopper(const bit_area&, const tanimoto_matrix<float>&, int,
                                     cudaStream_t);
template void launch_tanimoto_hopper(const bit_area&, const tanimoto_edges&, int, cudaStream_t);
template void launch_tanimoto_hopper(const bit_area&, const tanimoto_counts&, int, cudaStream_t);
template void launch_tanimoto_hopper(const bit_area&, const tanimoto_partners&, int, cudaStream_t);

}  // namespace gpu::kernels
