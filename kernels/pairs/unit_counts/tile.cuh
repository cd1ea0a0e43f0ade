#pragma once
// A tile of left rows in the unit count: multiplied by the right rows of a warpgroup step by step,
// and decided.
//
// Plain rows: a step is multiplied, then decided.
//
// Corrected rows leave few pairs undecided, so a sum is compared once: a funnel shift takes the
// sign of its difference from the cut, and the least difference past the cut tells whether any pair
// of the warp is undecided. Only then are the sums compared again. A step is two products of 128
// right rows; the tensor cores work on one while the other is decided.

#include "kernels/common/bulk_copy.cuh"
#include "kernels/common/wgmma.cuh"
#include "kernels/pairs/unit_counts/step.cuh"

namespace gpu::kernels {

/// Sizes of the kernel for packed rows of `row_bytes`, corrected or not.
template <int row_bytes, bool with_correction>
struct unit_count_shape {
  static constexpr int depth = row_bytes;
  static constexpr bool corrected = with_correction;
  static constexpr int warpgroups = 3;
  static constexpr int threads = warpgroups * 128;
  static constexpr int block_rows = 256;  // of a warpgroup, and of a block of left rows
  static constexpr int block_bytes = block_rows * depth;
  static constexpr int chunk_blocks = 64;  // of left rows in an item
  static constexpr int tile_rows = depth <= 64 ? 256 : (depth <= 128 ? 128 : 64);
  static constexpr int tile_bytes = tile_rows * depth;
  static constexpr int tile_steps = tile_rows / 64;
  static constexpr int block_tiles = block_rows / tile_rows;
  static constexpr int stages = 4;
  static constexpr std::size_t lists_at =
      static_cast<std::size_t>(stages) * tile_bytes + std::size_t{warpgroups} * block_bytes;
  static constexpr std::size_t shared_bytes =
      lists_at + threads / 32 * sizeof(undecided_list::storage);
};

#if defined(__CUDA_ARCH_FEAT_SM90_ALL)

template <class shape>
using unit_ring = copy_ring<shape::stages, shape::tile_bytes>;

/// The first stage of left rows, and the warpgroup's right rows.
struct unit_operands {
  std::uint64_t left;
  std::uint64_t right;
};

/// Begins sums = 64 left rows times some right rows: 256, or 128 for half as many sums.
template <int depth, int size>
__device__ __forceinline__ void begin_products(float (&sums)[size], std::uint64_t left,
                                               std::uint64_t right) {
  pin_registers(sums);
  wgmma_fence();
#pragma unroll
  for (int k = 0; k < depth / 32; ++k) {
    wgmma_f16(sums, left + static_cast<std::uint64_t>(k * (256 >> 4)),
              right + static_cast<std::uint64_t>(k * (256 >> 4)), k);
  }
  wgmma_commit();
}

/// Waits until at most `pending` of the products that were begun last are not finished.
template <int pending, int size>
__device__ __forceinline__ void finish_products(float (&sums)[size]) {
  wgmma_wait<pending>();
  pin_registers(sums);
}

/// A tile of left rows that is in the ring, and what it meets.
struct unit_tile {
  int number;
  unsigned stage;
  bool on_diagonal;     // of the matrix of pairs: its right rows are among the left ones
  std::uint32_t right;  // position of the first right row
};

/// Multiplies a tile of plain rows and counts. Releases its stage after the last product.
template <class shape, bool symmetric>
__device__ __forceinline__ void count_plain_tile(const step_cut& cut, const unit_ring<shape>& ring,
                                                 const unit_tile& tile,
                                                 const unit_operands& operands, float (&sums)[128],
                                                 unit_step_sink& sink) {
#pragma unroll 1
  for (int step = 0; step < shape::tile_steps; ++step) {
    begin_products<shape::depth>(
        sums, operands.left + ((tile.stage * shape::tile_bytes + step * 64 * shape::depth) >> 4),
        operands.right);
    finish_products<0>(sums);
    if (step + 1 == shape::tile_steps && (threadIdx.x & 127U) == 0) ring.release(tile.stage);
    const auto left = static_cast<std::uint32_t>(tile.number * shape::tile_rows + step * 64);
    const int row =
        (tile.number % shape::block_tiles * shape::tile_steps + step) * 64 + sink.lane.row;
    sink.add(decide_products<symmetric>(sums, cut), true, tile.on_diagonal, row, left, tile.right);
  }
}

/// Decides half a step. Returns whether the warp has undecided pairs. All lanes call.
template <bool symmetric>
__device__ __forceinline__ bool decide_half(const float (&sums)[64], const step_cut& cut,
                                            unit_decisions& found) {
  // Of negative floats, taken as integers, the least is the one next to zero.
  int nearest = 0x7fffffff;
#pragma unroll
  for (int i = 0; i < 64; i += 2) {
    const float rest[2] = {cut.possible - distance_of<symmetric>(sums[i], cut),
                           cut.possible - distance_of<symmetric>(sums[i + 1], cut)};
    add_decision(found.possible.words[(i >> 1) & 1][0], rest[0]);
    add_decision(found.possible.words[(i >> 1) & 1][1], rest[1]);
    nearest = __vimin3_s32(nearest, __float_as_int(rest[0]), __float_as_int(rest[1]));
  }
  // A little more than the margin: both subtractions are rounded.
  const float margin = (cut.certain - cut.possible) * (1 + 1e-5F) + 1e-7F;
  const bool undecided = __any_sync(~0U, nearest <= __float_as_int(-margin));
#pragma unroll
  for (int w = 0; w < 4; ++w) {
    unsigned& certain = found.certain.words[w / 2][w % 2];
    if (!undecided) certain = certain << 16 | (found.possible.words[w / 2][w % 2] & 0xffffU);
  }
  if (undecided) {
#pragma unroll
    for (int i = 0; i < 64; ++i) {
      add_decision(found.certain.words[(i >> 1) & 1][i & 1],
                   cut.certain - distance_of<symmetric>(sums[i], cut));
    }
  }
  return undecided;
}

/// Multiplies a tile of corrected rows and counts. Releases its stage after the last product.
template <class shape, bool symmetric>
__device__ __forceinline__ void count_corrected_tile(const step_cut& cut,
                                                     const unit_ring<shape>& ring,
                                                     const unit_tile& tile,
                                                     const unit_operands& operands,
                                                     unit_step_sink& sink) {
  constexpr unsigned step_offset = (64 * shape::depth) >> 4;
  const std::uint64_t first = operands.left + ((tile.stage * shape::tile_bytes) >> 4);
  const std::uint64_t second_right = operands.right + ((128 * shape::depth) >> 4);
  float first_sums[64];
  float second_sums[64];
  begin_products<shape::depth>(first_sums, first, operands.right);
#pragma unroll
  for (int step = 0; step < shape::tile_steps; ++step) {
    unit_decisions found{};
    begin_products<shape::depth>(second_sums, first + step * step_offset, second_right);
    finish_products<1>(first_sums);
    bool undecided = decide_half<symmetric>(first_sums, cut, found);
    if (step + 1 < shape::tile_steps) {
      begin_products<shape::depth>(first_sums, first + (step + 1) * step_offset, operands.right);
      finish_products<1>(second_sums);
    } else {
      finish_products<0>(second_sums);
      if ((threadIdx.x & 127U) == 0) ring.release(tile.stage);
    }
    undecided |= decide_half<symmetric>(second_sums, cut, found);
    const auto left = static_cast<std::uint32_t>(tile.number * shape::tile_rows + step * 64);
    const int row =
        (tile.number % shape::block_tiles * shape::tile_steps + step) * 64 + sink.lane.row;
    sink.add(found, undecided, tile.on_diagonal, row, left, tile.right);
  }
}

#endif  // __CUDA_ARCH_FEAT_SM90_ALL

}  // namespace gpu::kernels
