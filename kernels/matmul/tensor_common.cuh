#pragma once
// What both multiplying kernels of the tensor variant share: where a tile of C lies, and how its
// sums become elements of C.

#include "kernels/common/launch.cuh"
#include "kernels/matmul/tensor_pack.cuh"
#include "plan/matmul_policy.hpp"

namespace gpu::kernels {

/// The packed product: C = A B by powers of two that the peaks tell.
struct tensor_problem {
  const std::byte* a;
  const std::byte* b;
  packed_operand a_shape;
  packed_operand b_shape;
  const unsigned* a_peaks;
  const unsigned* b_peaks;
  const unsigned* flag;  // not 0: do nothing, another kernel multiplies
  float* c;
  index_t c_stride;
  index_t m;
  index_t n;
};

/// Undoes the scaling: sum * 2^-(row shift + column shift).
__device__ inline float unscale(float sum, int row_shift, int col_shift) {
  return scale(sum, -(row_shift + col_shift));
}

/// Writes two neighbouring elements of C.
__device__ inline void store_pair(const tensor_problem& p, index_t row, index_t col, float x,
                                  float y, bool aligned) {
  float* to = p.c + row * p.c_stride + col;
  if (aligned && col + 1 < p.n) {
    *reinterpret_cast<float2*>(to) = {x, y};
  } else {
    if (col < p.n) to[0] = x;
    if (col + 1 < p.n) to[1] = y;
  }
}

/// Whether pairs that start at an even column can be written as one word.
__device__ inline bool pairs_are_aligned(const tensor_problem& p) {
  return reinterpret_cast<std::size_t>(p.c) % 8 == 0 && p.c_stride % 2 == 0;
}

}  // namespace gpu::kernels
