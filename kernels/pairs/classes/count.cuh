#pragma once
// Counts pairs of ranked rows at a cut that keeps many of them, per row and per bin of the
// statistic. Every pair is decided by its integer sum, which is exact.
//
// Layout. Rows stand class by class (kernels.hpp): all pairs of two 256-row blocks share one exact
// integer threshold on |S| or, for cuts that are not symmetric, one window of dropped sums, found
// by the definition of rho itself. No pair needs a second look.
//
// Block. 3 warpgroups. A block holds up to 3 x 256 right rows of one class in shared memory, 256
// for each warpgroup, and streams a chunk of the left rows past them, 256 a stage. A step
// multiplies 64 left rows by 256 right rows (wgmma); a thread then holds the sums of 2 rows x 64
// columns.
//
// Epilogue. Every sum becomes a bit in words of 32 decisions (decisions.cuh). Where pairs are
// binned, kept sums also enter a histogram (histogram.cuh). Rows are counted by population counts,
// two shuffles and one addition to global memory a step; counts of columns stay in registers
// (decisions.cuh).
//
// Shared memory (kernels/common/warpgroup_stream.cuh has the picture): the ring of left rows, the
// right rows, a table of the chunk's cuts and, for bins, the histogram: up to 227 KiB, one block a
// multiprocessor.
//
// Chunks hold left rows. Panels hold right rows: of all classes where left rows meet each other
// too, else of the classes of the right side alone.
//
// Order of work: items walk chunk by chunk (walk.cuh), so that all blocks of the device read one
// chunk of left rows, which stays in L2, while their right rows differ.
//
// Cost of a step without bins: the multiply takes 128 clocks, the epilogue 173 instructions of two
// clocks on the integer pipe; the two do not overlap: 524 to 558 clocks measured (H100).

#include <cstdint>

#include "kernels/pairs/classes/arguments.cuh"
#include "kernels/pairs/classes/decisions.cuh"
#include "kernels/pairs/classes/histogram.cuh"
#include "kernels/pairs/classes/walk.cuh"

namespace gpu::kernels {

#if defined(__CUDA_ARCH_FEAT_SM90_ALL)

/// The parts of a block's dynamic shared memory.
template <int depth>
struct count_memory {
  std::uint8_t* ring;           // left rows
  resident_operand right_rows;  // of the calling warpgroup
  count_table* table;
  unsigned* histogram;
  unsigned* zero;  // the count of the sum 0 in the histogram
  split_count* block_bins;

  __device__ __forceinline__ count_memory(std::uint8_t* shared, int warpgroup, int largest_sum)
      : ring(shared) {
    constexpr int block_bytes = count_block_rows * depth;
    right_rows = {shared + count_ring<depth>::bytes + warpgroup * block_bytes, warpgroup};
    table = reinterpret_cast<count_table*>(shared + count_ring<depth>::bytes +
                                           count_panel_blocks * block_bytes);
    histogram = reinterpret_cast<unsigned*>(table + 1);
    zero = histogram + largest_sum;
    block_bins = reinterpret_cast<split_count*>(histogram + count_histogram_words(largest_sum));
  }
};

/// Brings the warpgroup's 256 right rows, where pairs are binned four times as large.
template <int depth, bool binned>
__device__ __forceinline__ void load_right_rows(const std::uint8_t* tiles, int block,
                                                const resident_operand& right_rows) {
  constexpr int block_bytes = count_block_rows * depth;
  right_rows.copy<block_bytes, int4>(
      tiles + static_cast<std::size_t>(block) * block_bytes,
      [](int4 piece) { return binned ? times_sum_step(piece) : piece; });
  right_rows.publish();
}

/// Fills the table of the item's left rows for the item's panel. All threads.
template <bool binned>
__device__ __forceinline__ void fill_table(const count_arguments& args, const count_cursor& at,
                                           int panel_class, count_table& table) {
  __syncthreads();  // the table of the item before has been read
  for (int block = static_cast<int>(threadIdx.x); block < at.blocks; block += count_threads) {
    const int left = args.packed.square_sums[at.first_block + block];
    dropped_sums cut = find_dropped(left, panel_class, args.at_least, args.at_most);
    if constexpr (binned) {
      table.square_sums[block] = left;
      cut = {cut.first * sum_step, cut.length * sum_step};
    }
    table.cuts[block] = cut;
    const std::uint32_t* slots =
        args.packed.slots + static_cast<std::size_t>(at.first_block + block) * count_block_rows;
    int steps = 1;
#pragma unroll
    for (int step = 1; step < count_block_rows / count_step_rows; ++step) {
      steps += slots[step * count_step_rows] != empty_slot ? 1 : 0;
    }
    table.steps[block] = static_cast<std::uint8_t>(steps);
  }
  __syncthreads();
}

/// Decides the sums of a step, and where pairs are binned adds the kept ones to the histogram.
/// `on_diagonal`: both operands are the same rows, and the thread's first sum is at (row, column).
template <bool square, bool binned>
__device__ __forceinline__ decisions decide_step(int (&sums)[128], dropped_sums dropped,
                                                 const unsigned* zero, unsigned one,
                                                 bool on_diagonal, int row, int column) {
  if constexpr (binned) {
    if (on_diagonal) clear_lower(sums, row, column);
    return decide_and_count<square>(sums, dropped, shared_address(zero), one);
  } else {
    decisions kept = decide<square>(sums, dropped, one);
    if (on_diagonal) keep_upper(kept, row, column);
    return kept;
  }
}

/// Counts the kept pairs of a step from its sums. `on_diagonal`: both operands are the same rows,
/// and `row` is that of the thread's first sum among them. `degree`: of the step's first row.
template <bool square, bool binned>
__device__ __forceinline__ void count_step(const count_arguments& args, int (&sums)[128],
                                           dropped_sums dropped, const unsigned* zero,
                                           const count_lane& lane, bool on_diagonal, int row,
                                           unsigned* degree, sliced_counts& columns) {
  const decisions kept =
      decide_step<square, binned>(sums, dropped, zero, args.one, on_diagonal, row, lane.column);
  const unsigned rows = kept_in_rows(kept);
  columns.add(kept);
  add_row_counts(rows, degree, lane.counted_row);
}

/// Multiplies a tile of left rows, which is in stage `stage` of the ring, by the warpgroup's right
/// rows in `steps` steps, and counts. Releases the stage after the last product.
template <int depth, bool square, bool binned>
__device__ __forceinline__ void count_tile(const count_arguments& args,
                                           const count_stream<depth>& stream, unsigned stage,
                                           int (&sums)[128], std::uint64_t left,
                                           std::uint64_t right, dropped_sums dropped,
                                           const unsigned* zero, const count_lane& lane, int tile,
                                           int steps, bool on_diagonal, sliced_counts& columns) {
  constexpr int tile_rows = count_ring<depth>::tile_rows;
#pragma unroll 1
  for (int step = 0; step < steps; ++step) {
    begin_product<depth>(
        sums, left + ((step * count_step_rows * depth) >> 4), right,
        [](auto& d, std::uint64_t a, std::uint64_t b, int k) { wgmma_s8(d, a, b, k); });
    finish_product<0>(sums);
    if (step + 1 == steps) stream.release(stage);
    const int first_row = step * count_step_rows;
    count_step<square, binned>(args, sums, dropped, zero, lane, on_diagonal, first_row + lane.row,
                               args.degree + static_cast<std::size_t>(tile) * tile_rows + first_row,
                               columns);
  }
}

/// Converts the histogram to bins, before sums of other classes are counted in it. All threads.
template <int depth>
__device__ __forceinline__ void change_classes(const count_arguments& args,
                                               const count_memory<depth>& memory,
                                               dropped_sums dropped, class_pair now,
                                               class_pair& classes) {
  if (now == classes) return;
  if (!classes.none()) flush_histogram(args, memory.zero, memory.block_bins, dropped, classes);
  classes = now;
}

/// Sets the histogram and the block's bins to 0, all threads.
template <int depth>
__device__ __forceinline__ void clear_bins(const count_arguments& args,
                                           const count_memory<depth>& memory) {
  const auto words = count_histogram_words(args.largest_sum) + most_block_bins * 2;
  for (unsigned i = threadIdx.x; i < words; i += count_threads) memory.histogram[i] = 0;
}

/// The first stage of left rows, and the warpgroup's right rows.
struct count_operands {
  std::uint64_t left;
  std::uint64_t right;
};

/// What a thread carries from tile to tile beside its sums.
template <int depth>
struct count_progress {
  ring_position<count_ring<depth>::stages> position;
  sliced_counts columns;
  class_pair classes;    // of the sums in the histogram
  dropped_sums dropped;  // of the tile
};

/// Counts the item at the cursor: its left rows, tile by tile, against its panel.
template <int depth, bool square, bool binned>
__device__ __forceinline__ void count_item(const count_arguments& args,
                                           const count_memory<depth>& memory,
                                           const count_stream<depth>& stream,
                                           const count_cursor& at, const count_operands& operands,
                                           const count_lane& lane, int warpgroup, int (&sums)[128],
                                           count_progress<depth>& progress) {
  constexpr int most_steps = count_ring<depth>::tile_rows / count_step_rows;
  const int my_block = static_cast<int>(at.panel.first_block) + warpgroup;
  const bool active = warpgroup < static_cast<int>(at.panel.blocks);
  const int panel_class = args.packed.square_sums[at.panel.first_block];
  if (active) load_right_rows<depth, binned>(args.packed.tiles, my_block, memory.right_rows);
  fill_table<binned>(args, at, panel_class, *memory.table);
  unsigned* my_degree = args.degree + static_cast<std::size_t>(my_block) * count_block_rows;
  int column_steps = 0;
#pragma unroll 1
  for (int at_tile = 0; at_tile < at.blocks; ++at_tile) {
    const int tile = at.first_block + at_tile;
    if constexpr (binned) {
      const int left_class = memory.table->square_sums[at_tile];
      change_classes(args, memory, progress.dropped, {left_class, panel_class}, progress.classes);
    }
    progress.dropped = memory.table->cuts[at_tile];
    const unsigned stage = progress.position.stage;
    stream.wait_until_full(progress.position);
    stream.issue();
    const int ahead = my_block - tile;  // 0: on the diagonal
    if (active && ahead >= 0) {
      const int steps = memory.table->steps[at_tile];
      count_tile<depth, square, binned>(args, stream, stage, sums,
                                        operands.left + ((stage * stream.stage_bytes) >> 4),
                                        operands.right, progress.dropped, memory.zero, lane, tile,
                                        steps, ahead == 0, progress.columns);
      column_steps += steps;
      if (column_steps > sliced_counts::most_steps - most_steps) {
        progress.columns.flush(my_degree);
        column_steps = 0;
      }
    } else {
      stream.release(stage);
    }
    progress.position.advance();
  }
  if (column_steps != 0) progress.columns.flush(my_degree);
}

#endif  // __CUDA_ARCH_FEAT_SM90_ALL

template <int depth, bool square, bool binned>
__global__ void __launch_bounds__(count_threads, 1)
    pair_count_kernel(const __grid_constant__ count_arguments args) {
#if defined(__CUDA_ARCH_FEAT_SM90_ALL)
  extern __shared__ __align__(1024) std::uint8_t shared[];
  __shared__ stream_storage<count_tile_walk<depth>> storage;
  const int warpgroup = __shfl_sync(~0U, static_cast<int>(threadIdx.x >> 7), 0);
  const count_memory<depth> memory(shared, warpgroup, args.largest_sum);
  const count_tile_walk<depth> walk{{args.packed.tiles}, args};
  const count_stream<depth> stream{walk, shared_address(shared), storage};
  if constexpr (binned) clear_bins(args, memory);
  stream.start();

  const count_operands operands{
      operand_descriptor(stream.first_stage, depth),
      operand_descriptor(shared_address(memory.right_rows.memory), depth)};
  const count_lane lane = find_lane();
  int sums[128];
  count_progress<depth> progress{};
  for (auto at = stream.first_item(); walk.locate(at); stream.next_item(at)) {
    count_item<depth, square, binned>(args, memory, stream, at, operands, lane, warpgroup, sums,
                                      progress);
  }
  if constexpr (binned) {
    if (!progress.classes.none()) {
      flush_histogram(args, memory.zero, memory.block_bins, progress.dropped, progress.classes);
      flush_bins(args.bins, memory.block_bins);
    }
  }
#endif
}

}  // namespace gpu::kernels
