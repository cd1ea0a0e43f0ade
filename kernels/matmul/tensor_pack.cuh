#pragma once
// Packing of the operands of the tensor variant: scales every row of op(A) and column of op(B) by
// a power of two, splits each value into two halves and stores them in the order that the
// multiplying kernels copy to shared memory as it is.
//
// Why two halves: a float x scaled so that the largest of its row is in [2^14, 2^15) is
// hi + lo + rest with hi = half(x), lo = half(x - hi) and |rest| <= 2^-22 |x| + 2^-25. The three
// products hi hi + hi lo + lo hi then miss x y by little more than one float rounding. Two tf32
// numbers carry the same 22 bits, at half the rate of the tensor cores and twice the bytes; what
// they have more, range, the scaling gives back.

#include <cuda_fp16.h>

#include "common/launch.cuh"
#include "matmul/matmul_kernels.hpp"
#include "matmul/tensor_layout.hpp"

namespace gpu::kernels {

/// One operand as lanes (rows of op(A), columns of op(B)) of k values.
struct tensor_source {
  const float* data;
  index_t lane_step;
  index_t depth_step;
  index_t lanes;
  index_t depth;
  unsigned* peaks;  // per lane, the bit pattern of max |x|: ordered as the values are
  std::byte* packed;
  packed_operand shape;
};

inline constexpr unsigned infinity_bits = 0x7f800000U;

/// The power of two that takes a peak to [2^14, 2^15); 0 for a lane of zeros.
__device__ inline int tensor_shift(unsigned peak) {
  if (peak == 0) return 0;
  const int exponent =
      peak >= 0x00800000U ? static_cast<int>(peak >> 23) - 127 : -118 - __clz(peak);
  return 14 - exponent;
}

/// 2^e for -126 <= e <= 127.
__device__ inline float power_of_two(int e) {
  return __int_as_float((e + 127) << 23);
}

/// x * 2^shift, in two steps because 2^shift itself may be out of range.
__device__ inline float scale(float x, int shift) {
  const int half = shift / 2;
  return x * power_of_two(half) * power_of_two(shift - half);
}

/// Peaks: a block of 8 warps takes 8 lanes where k is contiguous, else 256 lanes, and
/// peak_depth values of k of each. Order does not matter to a maximum: the result is the same
/// every time.
inline constexpr index_t peak_depth = 2048;
inline constexpr index_t peak_depth_across = 128;

/// The largest value of a warp, in every lane.
__device__ inline unsigned warp_maximum(unsigned value) {
#if __CUDA_ARCH__ >= 800
  return __reduce_max_sync(0xffffffffU, value);
#else
  for (int step = 16; step > 0; step /= 2) {
    value = max(value, __shfl_xor_sync(0xffffffffU, value, step));
  }
  return value;
#endif
}

__device__ inline void find_peaks_along_depth(const tensor_source& x, index_t block) {
  const index_t groups = ceil_div(x.lanes, 8);
  const index_t lane = block % groups * 8 + threadIdx.x / 32;
  const index_t begin = block / groups * peak_depth;
  if (lane >= x.lanes || begin >= x.depth) return;
  const index_t end = min(x.depth, begin + peak_depth);
  const float* row = x.data + lane * x.lane_step;
  unsigned peak = 0;
#pragma unroll 8
  for (index_t l = begin + threadIdx.x % 32; l < end; l += 32) {
    peak = max(peak, __float_as_uint(fabsf(row[l])));
  }
  peak = warp_maximum(peak);
  if (threadIdx.x % 32 == 0) atomicMax(x.peaks + lane, peak);
}

__device__ inline void find_peaks_across(const tensor_source& x, index_t block) {
  const index_t groups = ceil_div(x.lanes, 256);
  const index_t lane = block % groups * 256 + threadIdx.x;
  const index_t begin = block / groups * peak_depth_across;
  if (lane >= x.lanes || begin >= x.depth) return;
  const index_t end = min(x.depth, begin + peak_depth_across);
  const float* column = x.data + lane * x.lane_step;
  unsigned peak = 0;
#pragma unroll 8
  for (index_t l = begin; l < end; ++l) {
    peak = max(peak, __float_as_uint(fabsf(column[l * x.depth_step])));
  }
  atomicMax(x.peaks + lane, peak);
}

inline index_t peak_blocks(const tensor_source& x) {
  return x.depth_step == 1 ? ceil_div(x.lanes, 8) * ceil_div(x.depth, peak_depth)
                           : ceil_div(x.lanes, 256) * ceil_div(x.depth, peak_depth_across);
}

__global__ void __launch_bounds__(256)
    tensor_find_peaks(const __grid_constant__ tensor_source a,
                      const __grid_constant__ tensor_source b, index_t a_blocks) {
  const bool first = blockIdx.x < a_blocks;
  const tensor_source& x = first ? a : b;
  const index_t block = blockIdx.x - (first ? 0 : a_blocks);
  x.depth_step == 1 ? find_peaks_along_depth(x, block) : find_peaks_across(x, block);
}

/// Packing: a block of 256 threads makes one cell, 64 lanes x 32 of k. It reads along whichever
/// direction is contiguous into rows of 33 floats (no bank conflicts either way), then each thread
/// splits 8 values of one lane into two 16-byte words. Zeros beyond the operand.
__global__ void __launch_bounds__(256)
    tensor_pack(const __grid_constant__ tensor_source a, const __grid_constant__ tensor_source b,
                index_t a_cells, unsigned* flag) {
  constexpr int lanes = packed_operand::cell_rows;
  constexpr int depth = packed_operand::cell_depth;
  __shared__ float tile[lanes][depth + 1];
  const bool first = blockIdx.x < a_cells;
  const tensor_source& x = first ? a : b;
  const index_t cell = blockIdx.x - (first ? 0 : a_cells);
  const index_t first_lane = cell % x.shape.panels * lanes;
  const index_t first_depth = cell / x.shape.panels * depth;
  const int thread = static_cast<int>(threadIdx.x);

  const bool along_depth = x.depth_step == 1;
#pragma unroll
  for (int e = thread; e < lanes * depth; e += 256) {
    const int lane = along_depth ? e / depth : e % lanes;
    const int l = along_depth ? e % depth : e / lanes;
    const bool inside = first_lane + lane < x.lanes && first_depth + l < x.depth;
    tile[lane][l] =
        inside ? x.data[(first_lane + lane) * x.lane_step + (first_depth + l) * x.depth_step]
               : 0.0F;
  }
  const int row = thread / 4;
  const int group = thread % 4;
  const unsigned peak = x.peaks[first_lane + row];
  if (peak >= infinity_bits) *flag = 1;
  const int shift = tensor_shift(peak);
  __syncthreads();

  struct alignas(16) halves {
    __half value[8];
  };
  halves high;
  halves low;
#pragma unroll
  for (int i = 0; i < 8; ++i) {
    const float value = scale(tile[row][group * 8 + i], shift);
    high.value[i] = __float2half_rn(value);
    low.value[i] = __float2half_rn(value - __half2float(high.value[i]));
  }
  auto* out = reinterpret_cast<halves*>(x.packed + cell * packed_operand::cell_bytes) + row * 8;
  out[group ^ (row % 8)] = high;
  out[(group + 4) ^ (row % 8)] = low;
}

}  // namespace gpu::kernels
