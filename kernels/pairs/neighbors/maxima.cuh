#pragma once
// Neighbour search, first half: the largest product of every left row with each group of 128 right
// rows. Both may be the same rows, packed once.
//
// Rows are unit rows in half precision, so a product is an estimate of the statistic itself,
// whatever the norms are, and the sums come two to a register.
//
// Block. 3 warpgroups. A block holds a panel of 3 x 2 x 64 left rows in shared memory and walks a
// chunk of the right rows, which a ring of bulk copies streams through shared memory. A warpgroup
// multiplies a 64-row block by 256 right rows at a time (wgmma) into one of two sets of sums, and
// meanwhile folds the other set into the maxima of its rows: one instruction for two sums, |x|
// included, which takes half as long as the tensor cores. No branch depends on the data. A thread
// holds 64 columns of 2 rows; the maxima over two products are one entry of each of the two rows:
// 2 bytes for 128 pairs.
//
// NaN marks rows without a statistic: max returns the other operand.
// Order of work: items walk chunk by chunk, so that all blocks of the device read one chunk of
// right rows, which stays in L2, while their panels differ.
// Shared memory (kernels/common/warpgroup_stream.cuh has the picture): ring and panel; 1 block a
// multiprocessor.

#include "kernels/common/panel_products.cuh"
#include "kernels/pairs/neighbors/fold.cuh"
#include "kernels/pairs/neighbors/kernels.hpp"

namespace gpu::kernels {

struct maxima_arguments {
  const std::uint8_t* tiles;
  neighbor_block block;
  int panels;           // of the block
  int tile_count;       // of the right rows
  int chunk_tiles;      // even
  int items;            // panels times chunks
  unsigned sign_flips;  // of the left rows: 0x80008000 finds the maxima of -r
};

#if defined(__CUDA_ARCH_FEAT_SM90_ALL)

/// Folds the sums of one product into the maxima of rows g and g + 8.
template <bool magnitude>
__device__ __forceinline__ void fold_sums(const unsigned (&d)[64], unsigned (&best)[2]) {
  unsigned other[2] = {d[2], d[3]};
  best[0] = larger_halves<magnitude>(best[0], d[0]);
  best[1] = larger_halves<magnitude>(best[1], d[1]);
#pragma unroll
  for (int i = 4; i < 64; i += 4) {
    best[0] = larger_halves<magnitude>(best[0], d[i]);
    best[1] = larger_halves<magnitude>(best[1], d[i + 1]);
    other[0] = larger_halves<magnitude>(other[0], d[i + 2]);
    other[1] = larger_halves<magnitude>(other[1], d[i + 3]);
  }
  best[0] = larger_halves<magnitude>(best[0], other[0]);
  best[1] = larger_halves<magnitude>(best[1], other[1]);
}

#endif  // __CUDA_ARCH_FEAT_SM90_ALL

/// Sizes of a kernel for rows of `row_bytes`.
template <int row_bytes>
struct maxima_shape : panel_shape<select_neighbor_policy(row_bytes), row_bytes> {
  static constexpr int span_tiles = neighbor_span_rows / maxima_shape::tile_rows;
};

#if defined(__CUDA_ARCH_FEAT_SM90_ALL)

/// The right rows that a block streams: the tiles of each item's chunk.
template <class shape>
struct maxima_tile_walk : tile_walk<shape> {
  struct cursor {
    int item;
    tile_range tiles;
  };

  const maxima_arguments& args;

  __device__ __forceinline__ int first_item() const { return 0; }
  __device__ __forceinline__ bool locate(cursor& at) const {
    if (at.item >= args.items) return false;
    at.tiles.next = at.item / args.panels * args.chunk_tiles;
    at.tiles.end = min(at.tiles.next + args.chunk_tiles, args.tile_count);
    return true;
  }
};

template <class shape>
using maxima_stream = warpgroup_stream<maxima_tile_walk<shape>>;

/// Writes the maxima of a span: `out` is that of row g of the warp's first 16 rows.
template <bool magnitude, int row_blocks>
__device__ __forceinline__ void store_maxima(const unsigned (&best)[row_blocks][2],
                                             std::uint16_t* out, index_t pitch) {
#pragma unroll
  for (int x = 0; x < row_blocks; ++x) {
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      out[(x * 64 + half * 8) * pitch] = larger_half<magnitude>(best[x][half]);
    }
  }
}

#endif  // __CUDA_ARCH_FEAT_SM90_ALL

template <int depth, bool magnitude>
__global__ void __launch_bounds__(maxima_shape<depth>::threads, 1)
    neighbor_maxima_kernel(const __grid_constant__ maxima_arguments args) {
#if defined(__CUDA_ARCH_FEAT_SM90_ALL)
  using shape = maxima_shape<depth>;
  using walk_type = maxima_tile_walk<shape>;
  constexpr int row_blocks = shape::row_blocks;
  extern __shared__ __align__(1024) std::uint8_t shared[];
  __shared__ stream_storage<walk_type> storage;
  const int warpgroup = __shfl_sync(~0U, static_cast<int>(threadIdx.x >> 7), 0);
  const unsigned in_group = threadIdx.x & 127U;
  const unsigned lane = threadIdx.x & 31U;
  const walk_type walk{{args.tiles}, args};
  const maxima_stream<shape> stream{walk, shared_address(shared), storage};
  const resident_operand left_rows{shared + shape::left_at + warpgroup * shape::left_bytes,
                                   warpgroup};
  stream.start();

  const panel_operands operands{operand_descriptor(shared_address(left_rows.memory), depth),
                                operand_descriptor(stream.first_stage, depth)};
  unsigned sums[2][64];
  ring_position<shape::stages> position{0, 0};
  for (auto at = stream.first_item(); walk.locate(at); stream.next_item(at)) {
    const index_t in_block =
        static_cast<index_t>(at.item % args.panels) * shape::panel + warpgroup * row_blocks * 64;
    left_rows.copy<shape::left_bytes, uint4>(
        args.block.left.tiles + (args.block.first + in_block) * shape::depth, [&](uint4 piece) {
          return make_uint4(piece.x ^ args.sign_flips, piece.y ^ args.sign_flips,
                            piece.z ^ args.sign_flips, piece.w ^ args.sign_flips);
        });
    left_rows.publish();
    // Rows g and g + 8 of the warp's 16, entry q of a span.
    std::uint16_t* out = args.block.maxima +
                         (in_block + (in_group >> 5) * 16 + (lane >> 2)) * args.block.pitch +
                         (lane & 3U) + static_cast<index_t>(at.tiles.next / shape::span_tiles) * 4;
    unsigned best[row_blocks][2];
#pragma unroll 1
    for (int tile = at.tiles.next; tile < at.tiles.end; ++tile) {
      if (tile % shape::span_tiles == 0) {
#pragma unroll
        for (int x = 0; x < row_blocks; ++x) best[x][0] = best[x][1] = no_maxima;
      }
      stream.wait_until_full(position);
      multiply_tile<shape>(
          stream, operands, position.stage, sums,
          [](auto& d, std::uint64_t a, std::uint64_t b, int k) { wgmma_f16(d, a, b, k); },
          [&](int product, auto& ready) {
            fold_sums<magnitude>(ready, best[product / shape::splits]);
          });
      if ((tile + 1) % shape::span_tiles == 0) {
        store_maxima<magnitude>(best, out, args.block.pitch);
        out += 4;
      }
      position.advance();
    }
  }
#endif
}

template <int depth, bool magnitude>
void launch_maxima(const maxima_arguments& args, int multiprocessors, cudaStream_t stream) {
  using shape = maxima_shape<depth>;
  static_assert(shape::shared_bytes <= 227 * 1024 - 1024);
  launch_persistent(neighbor_maxima_kernel<depth, magnitude>, args, shape::threads,
                    shape::shared_bytes, multiprocessors, stream);
}

}  // namespace gpu::kernels
