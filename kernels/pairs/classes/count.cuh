#pragma once
// Counts pairs of ranked rows at a cut that keeps many of them, per row and per bin of the
// statistic: every pair is decided, exactly, by its integer sum.
//
// Layout. Rows stand class by class (count_kernels.hpp): all pairs of two 256-row blocks share one
// exact integer threshold on |S|, or, for cuts that are not symmetric, one window of dropped sums,
// found by the definition of rho itself. No pair needs a second look.
//
// A block holds up to 3 x 256 right rows of one class in shared memory, one block a warpgroup, and
// streams a chunk of the left rows past them, 256 a stage. A step multiplies 64 left rows by 256
// right rows (wgmma); a thread then holds sums of 2 rows x 64 columns.
//
// Epilogue. Every sum becomes a bit of words of 32 decisions (count_decisions.cuh) and, where pairs
// are binned, kept sums enter a histogram (count_histogram.cuh). Rows are counted by population
// counts, two shuffles and one addition to global memory a step. Columns stay, so their counts stay
// in registers (count_columns.cuh).
//
// Order of work: items walk chunk by chunk, so that the blocks on the device share one chunk of
// left rows in L2 while their right rows differ.
//
// A step takes 558 clocks without bins at 1,000,000 rows and 524 at 5,000,000: about what the
// multiply (128) and the epilogue's instructions on the integer pipe (173, two clocks each) come to
// one after the other. It took 687 at 1,000,000 with tiles of 128 rows, whose thresholds were read
// and found on the way: probably because the first warpgroup sends for the tiles and the others
// wait for it.
// Tried without gain: items that begin at different tiles of their chunk, rows counted without
// atomics (both 1 % or less); counting columns by adding up bit-sliced words over lanes every step
// (more instructions than the decisions). What a step takes with bins: count_histogram.cuh.

#include <cstdint>

#include "kernels/common/bulk_copy.cuh"
#include "kernels/common/wgmma.cuh"
#include "kernels/pairs/classes/arguments.cuh"
#include "kernels/pairs/classes/columns.cuh"
#include "kernels/pairs/classes/decisions.cuh"
#include "kernels/pairs/classes/histogram.cuh"

namespace gpu::kernels {

#if defined(__CUDA_ARCH_FEAT_SM90_ALL)

/// A position in the walk over items.
struct count_cursor {
  index_t item;
  int chunk;
  int first_block;  // of left rows, and how many
  int blocks;
  count_panel panel;
};

/// Finds the place of at.item; false at the end of the work.
__device__ __forceinline__ bool settle(const count_arguments& args, count_cursor& at) {
  if (at.item >= args.last_item) return false;
  while (at.item >= args.items_before[at.chunk + 1]) ++at.chunk;
  at.panel = args.panels[args.first_panel[at.chunk] + (at.item - args.items_before[at.chunk])];
  const int past = static_cast<int>(at.panel.first_block + at.panel.blocks);
  at.first_block = at.chunk * count_chunk_blocks;
  at.blocks = min(count_chunk_blocks, past - at.first_block);
  return true;
}

template <int depth>
__device__ __forceinline__ void multiply(int (&sums)[128], std::uint64_t left,
                                         std::uint64_t right) {
  pin_registers(sums);
  wgmma_fence();
#pragma unroll
  for (int k = 0; k < depth / 32; ++k) {
    wgmma_s8(sums, left + static_cast<std::uint64_t>(k * (256 >> 4)),
             right + static_cast<std::uint64_t>(k * (256 >> 4)), k);
  }
  wgmma_commit();
  wgmma_wait<0>();
  pin_registers(sums);
}

#endif  // __CUDA_ARCH_FEAT_SM90_ALL

template <int depth, bool square, bool binned>
__global__ void __launch_bounds__(count_threads, 1)
    pair_count_kernel(const __grid_constant__ count_arguments args) {
#if defined(__CUDA_ARCH_FEAT_SM90_ALL)
  using ring_shape = count_ring<depth>;
  constexpr int stages = ring_shape::stages;
  constexpr int tile_rows = ring_shape::tile_rows;
  constexpr int tile_bytes = tile_rows * depth;
  constexpr int block_bytes = count_block_rows * depth;
  constexpr int tile_steps = tile_rows / 64;
  constexpr int block_tiles = count_block_rows / tile_rows;

  extern __shared__ __align__(1024) std::uint8_t shared[];
  __shared__ __align__(8) std::uint64_t barriers[2 * stages];  // full, then empty
  __shared__ count_cursor producer_at;                         // of thread 0 alone, as are
  // the next tile, how many of the item are left, and where it goes; volatile: no other thread may
  // read them ahead.
  __shared__ volatile int producer_tile, producer_left;
  __shared__ volatile unsigned producer_stage, producer_parity;

  const int warpgroup = __shfl_sync(~0U, static_cast<int>(threadIdx.x >> 7), 0);
  const unsigned in_group = threadIdx.x & 127U;
  const unsigned lane = threadIdx.x & 31U;
  const unsigned full = shared_address(&barriers[0]);
  const unsigned empty = shared_address(&barriers[stages]);
  const unsigned ring = shared_address(shared);
  std::uint8_t* right_rows = shared + stages * tile_bytes + warpgroup * block_bytes;
  auto& table = *reinterpret_cast<count_table*>(shared + stages * tile_bytes +
                                                count_panel_blocks * block_bytes);
  auto* histogram = reinterpret_cast<unsigned*>(&table + 1);
  unsigned* zero = histogram + args.largest_sum;
  auto* block_bins =
      reinterpret_cast<split_count*>(histogram + count_histogram_words(args.largest_sum));

  // Thread 0 streams the tiles ahead of the consumers; its position stays in shared memory to
  // leave the registers to the sums.
  const auto aim = [&](const count_cursor& at) {
    producer_tile = at.first_block * block_tiles;
    producer_left = at.blocks * block_tiles;
  };
  const auto produce = [&] {
    const int left = producer_left;
    if (left == 0) return;
    const unsigned stage = producer_stage;
    const unsigned parity = producer_parity;
    const int tile = producer_tile;
    barrier_wait(empty + stage * 8, parity ^ 1U);
    barrier_expect(full + stage * 8, tile_bytes);
    bulk_copy(ring + stage * tile_bytes, args.tiles + static_cast<std::size_t>(tile) * tile_bytes,
              tile_bytes, full + stage * 8);
    producer_stage = stage + 1 == stages ? 0 : stage + 1;
    producer_parity = stage + 1 == stages ? parity ^ 1U : parity;
    producer_tile = tile + 1;
    producer_left = left - 1;
    if (left == 1) {
      count_cursor at = producer_at;
      at.item += gridDim.x;
      if (settle(args, at)) aim(at);
      producer_at = at;
    }
  };
  if constexpr (binned) {
    const auto words = count_histogram_words(args.largest_sum) + most_block_bins * 2;
    for (unsigned i = threadIdx.x; i < words; i += count_threads) histogram[i] = 0;
  }
  if (threadIdx.x == 0) {
    for (int stage = 0; stage < stages; ++stage) {
      barrier_init(full + static_cast<unsigned>(stage) * 8, 1);
      barrier_init(empty + static_cast<unsigned>(stage) * 8, count_panel_blocks);
    }
    barrier_init_fence();
    count_cursor at{.item = args.first_item + blockIdx.x};
    producer_left = 0;
    if (settle(args, at)) aim(at);
    producer_at = at;
    producer_stage = 0;
    producer_parity = 0;
    for (int stage = 0; stage < stages - 2; ++stage) produce();
  }
  __syncthreads();

  const std::uint64_t left_operand = operand_descriptor(ring, depth);
  const std::uint64_t right_operand = operand_descriptor(shared_address(right_rows), depth);
  // Row and column of the thread's first sum in a step; lane t of a quad counts row g + 8 t.
  const int warp_row = static_cast<int>((in_group >> 5) * 16);
  const int count_row = warp_row + static_cast<int>((lane >> 2) + (lane & 1U) * 8);
  int sums[128];
  column_counts columns{};
  unsigned stage = 0;
  unsigned parity = 0;
  int left_class = 0;  // none yet
  int right_class = 0;
  dropped_sums dropped{};

  count_cursor at{.item = args.first_item + blockIdx.x};
  while (settle(args, at)) {
    const int my_block = static_cast<int>(at.panel.first_block) + warpgroup;
    const bool active = warpgroup < static_cast<int>(at.panel.blocks);
    const int panel_class = args.square_sums[at.panel.first_block];
    if (active) {
      warpgroup_sync(warpgroup + 1);
      const auto* source = reinterpret_cast<const int4*>(
          args.tiles + static_cast<std::size_t>(my_block) * block_bytes);
      for (unsigned i = in_group; i < block_bytes / 16; i += 128) {
        reinterpret_cast<int4*>(right_rows)[i] = binned ? stepped(source[i]) : source[i];
      }
      async_proxy_fence();
      warpgroup_sync(warpgroup + 1);
    }
    __syncthreads();  // the last item's table has been read
    for (int block = static_cast<int>(threadIdx.x); block < at.blocks; block += count_threads) {
      const int left = args.square_sums[at.first_block + block];
      dropped_sums cut = find_dropped(left, panel_class, args.at_least, args.at_most);
      if constexpr (binned) {
        table.square_sums[block] = left;
        cut = {cut.first * sum_step, cut.length * sum_step};
      }
      table.cuts[block] = cut;
    }
    __syncthreads();
    unsigned* my_degree = args.degree + static_cast<std::size_t>(my_block) * count_block_rows;
    int column_steps = 0;
#pragma unroll 1
    for (int at_tile = 0; at_tile < at.blocks * block_tiles; ++at_tile) {
      const int tile = at.first_block * block_tiles + at_tile;
      if constexpr (binned) {
        const int tile_class = table.square_sums[at_tile / block_tiles];
        if (tile_class != left_class || panel_class != right_class) {
          if (left_class != 0) {
            leave_histogram(args, zero, block_bins, dropped, left_class, right_class);
          }
          left_class = tile_class;
          right_class = panel_class;
        }
      }
      dropped = table.cuts[at_tile / block_tiles];
      barrier_wait(full + stage * 8, parity);
      if (threadIdx.x == 0) produce();
      __syncwarp();
      const int ahead = my_block - tile / block_tiles;  // 0: on the diagonal
      if (active && ahead >= 0) {
#pragma unroll 1
        for (int step = 0; step < tile_steps; ++step) {
          multiply<depth>(sums, left_operand + ((stage * tile_bytes + step * 64 * depth) >> 4),
                          right_operand);
          if (step + 1 == tile_steps && in_group == 0) barrier_arrive(empty + stage * 8);
          const int first_row = (tile % block_tiles * tile_steps + step) * 64 + warp_row +
                                static_cast<int>(lane >> 2);
          const int first_column = static_cast<int>(lane & 3U) * 2;
          decisions kept;
          if constexpr (binned) {
            if (ahead == 0) clear_lower(sums, first_row, first_column);
            kept = decide_and_count<square>(sums, dropped, shared_address(zero), args.one);
          } else {
            kept = decide<square>(sums, dropped, args.one);
            if (ahead == 0) keep_upper(kept, first_row, first_column);
          }
          unsigned rows = 0;
#pragma unroll
          for (int x = 0; x < 2; ++x) {
            rows +=
                static_cast<unsigned>(__popc(kept.words[0][x]) + (__popc(kept.words[1][x]) << 16));
          }
          columns.add(kept);
          rows += __shfl_xor_sync(~0U, rows, 1);
          rows += __shfl_xor_sync(~0U, rows, 2);
          if ((lane & 3U) < 2) {
            atomicAdd(
                args.degree + static_cast<std::size_t>(tile) * tile_rows + step * 64 + count_row,
                (lane & 1U) != 0 ? rows >> 16 : rows & 0xffffU);
          }
        }
        column_steps += tile_steps;
        if (column_steps > column_counts::most_steps - tile_steps) {
          columns.leave(my_degree);
          column_steps = 0;
        }
      } else if (in_group == 0) {
        barrier_arrive(empty + stage * 8);
      }
      if (++stage == stages) {
        stage = 0;
        parity ^= 1U;
      }
    }
    if (column_steps != 0) columns.leave(my_degree);
    at.item += gridDim.x;
  }
  if constexpr (binned) {
    if (left_class != 0) {
      leave_histogram(args, zero, block_bins, dropped, left_class, right_class);
      leave_bins(args.bins, block_bins);
    }
  }
#endif
}

}  // namespace gpu::kernels
