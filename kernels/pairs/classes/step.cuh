#pragma once
// A step of the counts by warpgroup products: 64 left rows times 256 right rows. Where a thread's
// sums are in it, and how the kept pairs of its rows are counted.

#include "kernels/pairs/classes/decisions.cuh"

namespace gpu::kernels {

#if defined(__CUDA_ARCH_FEAT_SM90_ALL)

/// A thread's place in a step.
struct count_lane {
  int row;          // of its first sum
  int column;       // of its first sum
  int counted_row;  // of those that its quad holds: lane t counts row g + 8 t
};

__device__ __forceinline__ count_lane find_lane() {
  const unsigned in_group = threadIdx.x & 127U;
  const unsigned lane = threadIdx.x & 31U;
  const int warp_row = static_cast<int>((in_group >> 5) * 16);
  return {.row = warp_row + static_cast<int>(lane >> 2),
          .column = static_cast<int>(lane & 3U) * 2,
          .counted_row = warp_row + static_cast<int>((lane >> 2) + (lane & 1U) * 8)};
}

/// Kept pairs of the thread's two rows, one in each half of the word.
__device__ __forceinline__ unsigned kept_in_rows(const decisions& kept) {
  unsigned rows = 0;
#pragma unroll
  for (int x = 0; x < 2; ++x) {
    rows += static_cast<unsigned>(__popc(kept.words[0][x]) + (__popc(kept.words[1][x]) << 16));
  }
  return rows;
}

/// Adds the row counts of a step to `degree`, that of the step's first row. All lanes call.
__device__ __forceinline__ void add_row_counts(unsigned rows, unsigned* degree, int counted_row) {
  const unsigned lane = threadIdx.x & 31U;
  rows += __shfl_xor_sync(~0U, rows, 1);
  rows += __shfl_xor_sync(~0U, rows, 2);
  if ((lane & 3U) < 2) {
    atomicAdd(degree + counted_row, (lane & 1U) != 0 ? rows >> 16 : rows & 0xffffU);
  }
}

#endif  // __CUDA_ARCH_FEAT_SM90_ALL

}  // namespace gpu::kernels
