#pragma once
// The unit count: kept pairs of unit rows per row, from products in half precision.
//
// A product is off by at most an error that is known beforehand (what rounding takes from the rows,
// by Cauchy and Schwarz, and the roundings of the sums). So it tells what is kept for certain, and
// what may be kept; the pairs between are undecided and go to a list (undecided.cuh) that a second
// kernel decides exactly. They are about one pair in a thousand, of corrected rows (kernels.hpp)
// one in 17,000.
//
// Block. 3 warpgroups. A block holds 3 x 256 right rows in shared memory, 256 for each warpgroup,
// and streams a chunk of the left rows past them through a ring. A step multiplies 64 left rows by
// 256 right rows (wgmma, half precision, single-precision sums); a thread then holds the sums of 2
// rows x 64 columns.
//
// Epilogue. A sum is compared by subtractions whose signs a funnel shift collects into words of 32
// decisions (step.cuh). A NaN, which marks rows without a statistic and padding, has no sign: it is
// dropped. Rows and columns are counted as in the count by classes (classes/decisions.cuh).
//
// Rows have packed positions (neighbors/packing.hpp), those of the left side first; pairs are taken
// once, by ascending position, and left rows end with their side.
// Order of work: items walk chunk by chunk, so that all blocks of the device read one chunk of left
// rows, which stays in L2. Shared memory (kernels/common/warpgroup_stream.cuh has the picture):
// ring, right rows, lists; one block a multiprocessor.

#include <cstdint>

#include "kernels/pairs/unit_counts/tile.cuh"

namespace gpu::kernels {

#if defined(__CUDA_ARCH_FEAT_SM90_ALL)

/// Counts the item at the cursor: its left rows, tile by tile, against its right blocks.
template <class shape, bool symmetric>
__device__ __forceinline__ void count_unit_item(const step_cut& cut,
                                                const unit_stream<shape>& stream,
                                                const unit_count_cursor& at, int my_block,
                                                const unit_operands& operands,
                                                ring_position<shape::stages>& position,
                                                unit_step_sink& sink) {
  const auto first_right = static_cast<std::uint32_t>(my_block) * shape::block_rows;
  int column_steps = 0;
  float sums[128];
#pragma unroll 1
  for (int tile = at.tiles.next; tile < at.tiles.end; ++tile) {
    stream.wait_until_full(position);
    stream.issue();
    const int ahead = my_block - tile / shape::block_tiles;  // 0: on the diagonal
    if (ahead < 0) {
      stream.release(position.stage);
      position.advance();
      continue;
    }
    const unit_tile of{tile, position.stage, ahead == 0, first_right};
    if constexpr (shape::corrected) {
      count_corrected_tile<shape, symmetric>(cut, stream, of, operands, sink);
    } else {
      count_plain_tile<shape, symmetric>(cut, stream, of, operands, sums, sink);
    }
    column_steps += shape::tile_steps;
    if (column_steps > sliced_counts::most_steps - shape::tile_steps) {
      sink.columns.flush(sink.args.count.degree + first_right);
      column_steps = 0;
    }
    position.advance();
  }
  if (column_steps != 0) sink.columns.flush(sink.args.count.degree + first_right);
}

#endif  // __CUDA_ARCH_FEAT_SM90_ALL

template <class shape, bool symmetric>
__global__ void __launch_bounds__(shape::threads, 1)
    unit_count_kernel(const __grid_constant__ unit_count_arguments args) {
#if defined(__CUDA_ARCH_FEAT_SM90_ALL)
  using walk_type = unit_tile_walk<shape>;
  extern __shared__ __align__(1024) std::uint8_t shared[];
  __shared__ stream_storage<walk_type> storage;
  const int warpgroup = __shfl_sync(~0U, static_cast<int>(threadIdx.x >> 7), 0);
  const walk_type walk{{args.count.packed.left.tiles}, args};
  const unit_stream<shape> stream{walk, shared_address(shared), storage};
  const resident_operand right_rows{
      shared + shape::stages * shape::tile_bytes + warpgroup * shape::block_bytes, warpgroup};
  stream.start();

  constexpr int right_depth = shape::corrected ? 2 * shape::depth : shape::depth;
  const unit_operands operands{operand_descriptor(stream.first_stage, shape::depth),
                               operand_descriptor(shared_address(right_rows.memory), right_depth)};
  const cut_estimate& estimate = args.count.cut->estimate;
  const step_cut cut{estimate.middle, estimate.possible, estimate.certain};
  unit_step_sink sink{args, find_lane(),
                      undecided_list(reinterpret_cast<undecided_list::storage*>(
                          shared + shape::lists_at)[threadIdx.x / 32]),
                      sliced_counts{}};
  ring_position<shape::stages> position{0, 0};
  for (auto at = stream.first_item(); walk.locate(at); stream.next_item(at)) {
    const int my_block = at.panel_block + warpgroup;
    right_rows.copy<shape::block_bytes>(args.count.packed.left.tiles +
                                        static_cast<std::size_t>(my_block) * shape::block_bytes);
    right_rows.publish();
    count_unit_item<shape, symmetric>(cut, stream, at, my_block, operands, position, sink);
  }
  sink.list.flush(args);
#endif
}

}  // namespace gpu::kernels
