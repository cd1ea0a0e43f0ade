#pragma once
// Neighbour search, first half: the largest product of every left row with each group of 128 rows.
//
// Rows are unit rows in half precision, so a product is an estimate of the statistic itself,
// whatever the norms are, and the sums come two to a register. A block holds a panel of 3 x 2 x 64
// left rows in shared memory and walks a chunk of the right rows, which a ring of bulk copies
// streams through shared memory. Each warpgroup multiplies a 64-row block by 256 right rows at a
// time (wgmma) into one of two sets of sums and folds the other set into the maxima of its rows:
// one instruction for two sums, |x| included, half of what the tensor cores take. Nothing branches
// on the data. A thread holds 64 columns of 2 rows; the maxima over two products are one entry of
// the two rows: 2 bytes for 128 pairs.
//
// NaN marks rows without a statistic: max returns the other operand.
// Order of work: items walk chunk by chunk, so that the blocks on the device share one chunk of
// right rows in L2 while their panels differ.
// Shared memory: ring and panel; 1 block a multiprocessor.

#include "kernels/common/bulk_copy.cuh"
#include "kernels/common/launch.cuh"
#include "kernels/common/wgmma.cuh"
#include "kernels/pairs/neighbors/fold.cuh"
#include "kernels/pairs/neighbors/kernels.hpp"

namespace gpu::kernels {

struct maxima_arguments {
  const std::uint8_t* tiles;
  index_t first_row;    // of the block, packed
  int panels;           // of the block
  int tile_count;       // of all rows
  int chunk_tiles;      // even
  int items;            // panels times chunks
  unsigned sign_flips;  // of the left rows: 0x80008000 finds the maxima of -r
  std::uint16_t* maxima;
  index_t pitch;
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

/// A position in the walk over items and tiles.
struct maxima_cursor {
  int item;
  int tile;
  int last_tile;
};

/// Whether there is an item at the cursor; finds its tiles.
__device__ __forceinline__ bool settle(const maxima_arguments& args, maxima_cursor& at) {
  if (at.item >= args.items) return false;
  at.tile = at.item / args.panels * args.chunk_tiles;
  at.last_tile = min(at.tile + args.chunk_tiles, args.tile_count);
  return true;
}

#endif  // __CUDA_ARCH_FEAT_SM90_ALL

template <int depth>
constexpr std::size_t maxima_shared_bytes() {
  constexpr neighbor_policy policy = select_neighbor_policy(depth);
  return static_cast<std::size_t>(policy.stages) * policy.tile_rows * depth +
         static_cast<std::size_t>(neighbor_panel_rows(policy)) * depth;
}

template <int depth, bool magnitude>
__global__ void __launch_bounds__(select_neighbor_policy(depth).warpgroups * 128, 1)
    neighbor_maxima_kernel(const __grid_constant__ maxima_arguments args) {
#if defined(__CUDA_ARCH_FEAT_SM90_ALL)
  constexpr neighbor_policy policy = select_neighbor_policy(depth);
  constexpr int tile_rows = policy.tile_rows;
  constexpr int stages = policy.stages;
  constexpr int row_blocks = policy.row_blocks;
  constexpr int tile_bytes = tile_rows * depth;
  constexpr int block_bytes = 64 * depth;
  constexpr int splits = tile_rows / 256;
  constexpr int steps = row_blocks * splits;
  constexpr int panel = neighbor_panel_rows(policy);
  constexpr int span_tiles = neighbor_span_rows / tile_rows;
  static_assert(steps % 2 == 0);

  extern __shared__ __align__(1024) std::uint8_t shared[];
  __shared__ __align__(8) std::uint64_t barriers[2 * stages];  // full, then empty
  __shared__ maxima_cursor producer_at;                        // of thread 0 alone, as are
  __shared__ ring_place<stages> producer_place;
  __shared__ volatile unsigned producer_more;  // volatile: no other thread may read it ahead

  const int warpgroup = __shfl_sync(~0U, static_cast<int>(threadIdx.x >> 7), 0);
  const unsigned in_group = threadIdx.x & 127U;
  const unsigned lane = threadIdx.x & 31U;
  const copy_ring<stages, tile_bytes> ring{shared_address(shared), shared_address(barriers)};
  std::uint8_t* left_rows = shared + stages * tile_bytes + warpgroup * row_blocks * block_bytes;

  // Thread 0 streams the tiles ahead of the consumers; its position stays in shared memory to
  // leave the registers to the sums.
  const auto produce = [&] {
    if (producer_more == 0) return;
    maxima_cursor at = producer_at;
    ring_place<stages> to = producer_place;
    ring.fill(to, args.tiles + static_cast<std::size_t>(at.tile) * tile_bytes);
    to.advance();
    producer_place = to;
    if (++at.tile == at.last_tile) {
      at.item += static_cast<int>(gridDim.x);
      producer_more = settle(args, at) ? 1 : 0;
    }
    producer_at = at;
  };
  if (threadIdx.x == 0) {
    ring.init(policy.warpgroups);
    maxima_cursor at{static_cast<int>(blockIdx.x), 0, 0};
    producer_more = settle(args, at) ? 1 : 0;
    producer_at = at;
    producer_place = {0, 0};
    // One stage of slack where there are enough: then no warpgroup waits for the slowest.
    for (int stage = 0; stage < (stages > 2 ? stages - 2 : 1); ++stage) produce();
  }
  __syncthreads();

  const std::uint64_t left_operand = operand_descriptor(shared_address(left_rows), depth);
  const std::uint64_t right_operand = operand_descriptor(ring.first_stage, depth);
  unsigned d[2][64];
  ring_place<stages> place{0, 0};

  maxima_cursor at{static_cast<int>(blockIdx.x), 0, 0};
  for (; settle(args, at); at.item += static_cast<int>(gridDim.x)) {
    const index_t in_block =
        static_cast<index_t>(at.item % args.panels) * panel + warpgroup * row_blocks * 64;
    // The panel comes as it lies in memory: packed rows are in the layout the operand needs.
    warpgroup_sync(warpgroup + 1);
    const auto* source =
        reinterpret_cast<const uint4*>(args.tiles + (args.first_row + in_block) * depth);
    for (unsigned i = in_group; i < row_blocks * block_bytes / 16; i += 128) {
      uint4 piece = source[i];
      piece.x ^= args.sign_flips;
      piece.y ^= args.sign_flips;
      piece.z ^= args.sign_flips;
      piece.w ^= args.sign_flips;
      reinterpret_cast<uint4*>(left_rows)[i] = piece;
    }
    async_proxy_fence();
    warpgroup_sync(warpgroup + 1);
    // Rows g and g + 8 of the warp's 16, entry q of a span.
    std::uint16_t* out = args.maxima +
                         (in_block + (in_group >> 5) * 16 + (lane >> 2)) * args.pitch +
                         (lane & 3U) + static_cast<index_t>(at.tile / span_tiles) * 4;
    unsigned best[row_blocks][2];

#pragma unroll 1
    for (int tile = at.tile; tile < at.last_tile; ++tile) {
      if (tile % span_tiles == 0) {
#pragma unroll
        for (int x = 0; x < row_blocks; ++x) best[x][0] = best[x][1] = no_maxima;
      }
      ring.wait_until_full(place);
      const auto issue = [&](int step, unsigned(&sums)[64]) {
        pin_registers(sums);
        wgmma_fence();
#pragma unroll
        for (int k = 0; k < depth / 32; ++k) {
          wgmma_f16(sums,
                    left_operand +
                        static_cast<std::uint64_t>(((step / splits) * block_bytes + k * 256) >> 4),
                    right_operand +
                        ((place.stage * tile_bytes + (step % splits) * 256 * depth + k * 256) >> 4),
                    k);
        }
        wgmma_commit();
      };
      issue(0, d[0]);
      if (threadIdx.x == 0) produce();
      __syncwarp();
#pragma unroll
      for (int step = 0; step < steps; ++step) {
        if (step + 1 < steps) {
          issue(step + 1, d[(step + 1) & 1]);
          wgmma_wait<1>();
        } else {
          wgmma_wait<0>();
        }
        auto& sums = d[step & 1];
        pin_registers(sums);
        if (step + 1 == steps && in_group == 0) ring.release(place.stage);
        fold_sums<magnitude>(sums, best[step / splits]);
      }
      if ((tile + 1) % span_tiles == 0) {
#pragma unroll
        for (int x = 0; x < row_blocks; ++x) {
#pragma unroll
          for (int half = 0; half < 2; ++half) {
            out[(x * 64 + half * 8) * args.pitch] = larger_half<magnitude>(best[x][half]);
          }
        }
        out += 4;
      }
      place.advance();
    }
  }
#endif
}

template <int depth, bool magnitude>
void launch_maxima(const maxima_arguments& args, int multiprocessors, cudaStream_t stream) {
  constexpr std::size_t bytes = maxima_shared_bytes<depth>();
  static_assert(bytes <= 227 * 1024 - 1024);
  auto* kernel = neighbor_maxima_kernel<depth, magnitude>;
  allow_shared_memory(kernel, bytes);
  kernel<<<static_cast<unsigned>(multiprocessors), select_neighbor_policy(depth).warpgroups * 128,
           bytes, stream>>>(args);
  GPU_SIMILARITY_CHECK_LAUNCH();
}

}  // namespace gpu::kernels
