#pragma once
// Packing of the operands of the tensor variant: scales every row of op(A) and column of op(B) by
// a power of two, splits each value into two halves and stores them in the order that the
// multiplying kernels copy to shared memory as it is.
//
// Why two halves: a float x scaled so that the largest of its row is in [2^14, 2^15) is hi + lo +
// rest with hi = half(x), lo = half(x - hi) and |rest| <= 2^-22 |x| + 2^-25. The three products hi
// hi + hi lo + lo hi then miss x y by little more than one float rounding. Two tf32 numbers have
// the same 22 bits, at half the rate of the tensor cores and twice the bytes; their larger range is
// not needed, because the rows are scaled.

#include <cuda_fp16.h>

#include "kernels/common/dependent_launch.cuh"
#include "kernels/common/launch.cuh"
#include "kernels/common/warp.cuh"
#include "kernels/matmul/kernels.hpp"
#include "plan/matmul_policy.hpp"

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

/// Where lanes lie side by side, a block of 256 threads finds the peaks of 256 lanes over so many
/// k. Order does not matter to a maximum: the result is the same every time.
inline constexpr index_t peak_depth = 32;

__device__ inline void find_peaks(const tensor_source& x, index_t block) {
  const index_t groups = ceil_div(x.lanes, 256);
  const index_t lane = block % groups * 256 + threadIdx.x;
  const index_t begin = block / groups * peak_depth;
  if (lane >= x.lanes) return;
  const index_t end = min(x.depth, begin + peak_depth);
  const float* column = x.data + lane * x.lane_step;
  unsigned peak = 0;
#pragma unroll 16
  for (index_t l = begin; l < end; ++l) {
    peak = max(peak, __float_as_uint(fabsf(column[l * x.depth_step])));
  }
  atomicMax(x.peaks + lane, peak);
}

/// Eight neighbouring k of one lane as two 16-byte words.
struct alignas(16) packed_halves {
  __half value[8];
};

/// Stores eight values of one lane of a cell, `group` the number of the eight among its 32.
__device__ inline void store_split(const float (&values)[8], int shift, std::byte* cell, int row,
                                   int group) {
  packed_halves high;
  packed_halves low;
#pragma unroll
  for (int i = 0; i < 8; ++i) {
    const float value = scale(values[i], shift);
    high.value[i] = __float2half_rn(value);
    low.value[i] = __float2half_rn(value - __half2float(high.value[i]));
  }
  auto* out = reinterpret_cast<packed_halves*>(cell) + row * 8;
  out[group ^ (row % 8)] = high;
  out[(group + 4) ^ (row % 8)] = low;
}

/// Packs an operand whose lanes have contiguous k, and finds its peaks: a warp takes a lane and
/// keeps `held` pieces of 256 values in registers; the rest is read twice. Zeros beyond the
/// operand.
__device__ inline void pack_lane(const tensor_source& x, index_t lane, unsigned* flag) {
  constexpr int held = 4;
  constexpr int piece = 256;
  const int thread = static_cast<int>(threadIdx.x) % 32;
  const index_t depth = lane < x.lanes ? x.depth : 0;
  const float* from = x.data + lane * x.lane_step;
  const bool aligned = reinterpret_cast<std::size_t>(x.data) % 16 == 0 && x.lane_step % 4 == 0;
  unsigned peak = 0;
  const auto load = [&](float(&values)[8], index_t first) {
    if (aligned && first + 8 <= depth) {
      const auto* words = reinterpret_cast<const float4*>(from + first);
      const float4 left = words[0];
      const float4 right = words[1];
      values[0] = left.x, values[1] = left.y, values[2] = left.z, values[3] = left.w;
      values[4] = right.x, values[5] = right.y, values[6] = right.z, values[7] = right.w;
    } else {
#pragma unroll
      for (int i = 0; i < 8; ++i) values[i] = first + i < depth ? from[first + i] : 0.0F;
    }
  };
  const auto look = [&](const float(&values)[8]) {
#pragma unroll
    for (int i = 0; i < 8; ++i) peak = max(peak, __float_as_uint(fabsf(values[i])));
  };
  const auto store = [&](const float(&values)[8], int shift, index_t first) {
    const index_t cell_depth = first / packed_operand::cell_depth;
    if (cell_depth >= x.shape.depths) return;
    const index_t cell = cell_depth * x.shape.panels + lane / packed_operand::cell_rows;
    store_split(values, shift, x.packed + cell * packed_operand::cell_bytes,
                static_cast<int>(lane % packed_operand::cell_rows), thread % 4);
  };
  float near[held][8];
#pragma unroll
  for (int p = 0; p < held; ++p) load(near[p], p * piece + thread * 8);
#pragma unroll
  for (int p = 0; p < held; ++p) look(near[p]);
#pragma unroll 2
  for (index_t first = held * piece; first < depth; first += piece) {
    float far[8];
    load(far, first + thread * 8);
    look(far);
  }
  peak = warp_max(peak);
  if (thread == 0 && lane < x.lanes) {
    x.peaks[lane] = peak;
    if (peak >= infinity_bits) *flag = 1;
  }
  const int shift = tensor_shift(peak);
#pragma unroll
  for (int p = 0; p < held; ++p) store(near[p], shift, p * piece + thread * 8);
#pragma unroll 2
  for (index_t first = held * piece; first < x.shape.depths * packed_operand::cell_depth;
       first += piece) {
    float far[8];
    load(far, first + thread * 8);
    store(far, shift, first + thread * 8);
  }
}

/// Blocks of the first launch for an operand.
inline index_t peak_blocks(const tensor_source& x) {
  return x.depth_step == 1 ? x.shape.panels * packed_operand::cell_rows / 8
                           : ceil_div(x.lanes, 256) * ceil_div(x.depth, peak_depth);
}

/// The first launch packs operands with contiguous k; of the others it finds the peaks.
__global__ void __launch_bounds__(256)
    tensor_find_peaks(const __grid_constant__ tensor_source a,
                      const __grid_constant__ tensor_source b, index_t a_blocks, unsigned* flag) {
  let_next_kernel_start();
  const bool first = blockIdx.x < a_blocks;
  const tensor_source& x = first ? a : b;
  const index_t block = blockIdx.x - (first ? 0 : a_blocks);
  if (x.depth_step == 1) {
    pack_lane(x, block * 8 + threadIdx.x / 32, flag);
  } else {
    find_peaks(x, block);
  }
}

/// Blocks of the second launch for an operand.
inline index_t pack_blocks(const tensor_source& x) {
  return x.depth_step == 1 ? 0 : x.shape.panels * x.shape.depths;
}

/// The second launch packs the others: a block of 256 threads makes one cell, 64 lanes x 32 of k.
/// It reads neighbouring lanes into rows of 33 floats (no bank conflicts either way), then each
/// thread splits 8 values of one lane. Zeros beyond the operand.
__global__ void __launch_bounds__(256)
    tensor_pack(const __grid_constant__ tensor_source a, const __grid_constant__ tensor_source b,
                index_t a_blocks, unsigned* flag) {
  constexpr int lanes = packed_operand::cell_rows;
  constexpr int depth = packed_operand::cell_depth;
  __shared__ float tile[lanes][depth + 1];
  const bool first = blockIdx.x < a_blocks;
  const tensor_source& x = first ? a : b;
  const index_t cell = blockIdx.x - (first ? 0 : a_blocks);
  const index_t first_lane = cell % x.shape.panels * lanes;
  const index_t first_depth = cell / x.shape.panels * depth;
  const int thread = static_cast<int>(threadIdx.x);
#pragma unroll
  for (int e = thread; e < lanes * depth; e += 256) {
    const int lane = e % lanes;
    const int l = e / lanes;
    const bool inside = first_lane + lane < x.lanes && first_depth + l < x.depth;
    tile[lane][l] =
        inside ? x.data[(first_lane + lane) * x.lane_step + (first_depth + l) * x.depth_step]
               : 0.0F;
  }
  wait_for_previous_kernel();
  let_next_kernel_start();
  const int row = thread / 4;
  const int group = thread % 4;
  const unsigned peak = x.peaks[first_lane + row];
  if (peak >= infinity_bits) *flag = 1;
  __syncthreads();
  float values[8];
#pragma unroll
  for (int i = 0; i < 8; ++i) values[i] = tile[row][group * 8 + i];
  store_split(values, tensor_shift(peak), x.packed + cell * packed_operand::cell_bytes, row, group);
}

}  // namespace gpu::kernels
