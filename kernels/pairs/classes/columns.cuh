#pragma once
// Counts of kept pairs per column in the pair count (count.cuh): bit-planes in registers. A step
// adds to them with a ripple carry; once in 60 steps they are added to global memory.

#include "kernels/pairs/classes/decisions.cuh"

namespace gpu::kernels {

#if defined(__CUDA_ARCH_FEAT_SM90_ALL)

/// Adds the number of the lane at distance `distance` to the lane's own. Both have `planes`
/// bit-planes, the sum has one more. Each bit position is a column.
template <int planes, int size>
__device__ __forceinline__ void add_from_lane(unsigned (&number)[size], int distance) {
  unsigned carry = 0;
#pragma unroll
  for (int p = 0; p < planes; ++p) {
    const unsigned other = __shfl_xor_sync(~0U, number[p], distance);
    const unsigned mixed = number[p] ^ other;
    const unsigned next = (number[p] & other) | (mixed & carry);
    number[p] = mixed ^ carry;
    carry = next;
  }
  number[planes] = carry;
}

/// Counts of the 64 columns of a thread, bit-sliced; room for 63 steps of two rows.
struct sliced_counts {
  static constexpr int planes = 7;
  static constexpr int most_steps = 63;
  unsigned plane[2][planes];

  __device__ __forceinline__ void add(const decisions& d) {
#pragma unroll
    for (int x = 0; x < 2; ++x) {
      const unsigned a = d.words[0][x];
      const unsigned b = d.words[1][x];
      unsigned carry = (a & b) | (plane[x][0] & (a | b));
      plane[x][0] ^= a ^ b;
#pragma unroll
      for (int p = 1; p < planes; ++p) {
        const unsigned next = plane[x][p] & carry;
        plane[x][p] ^= carry;
        carry = next;
      }
    }
  }

  /// Adds the counts of the warp's rows to `degree`, that of the step's first column, and clears
  /// them.
  __device__ __forceinline__ void flush(unsigned* degree) {
    const unsigned lane = threadIdx.x & 31U;
#pragma unroll
    for (int x = 0; x < 2; ++x) {
      unsigned number[planes + 3] = {};
#pragma unroll
      for (int p = 0; p < planes; ++p) {
        number[p] = plane[x][p];
        plane[x][p] = 0;
      }
      add_from_lane<planes>(number, 4);
      add_from_lane<planes + 1>(number, 8);
      add_from_lane<planes + 2>(number, 16);
      // All eight lanes of a column have its count: each adds four of the columns.
#pragma unroll
      for (unsigned j = 0; j < 4; ++j) {
        const unsigned q = (lane >> 2) * 4 + j;
        unsigned count = 0;
#pragma unroll
        for (int p = 0; p < planes + 3; ++p) count |= (number[p] >> (31 - q) & 1U) << p;
        if (count != 0) atomicAdd(degree + q * 8 + (lane & 3U) * 2 + x, count);
      }
    }
  }
};

#endif  // __CUDA_ARCH_FEAT_SM90_ALL

}  // namespace gpu::kernels
