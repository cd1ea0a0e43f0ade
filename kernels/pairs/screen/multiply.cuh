#pragma once
// What differs between the operand types of the pair screen: the multiply, the threshold and the
// test of the sums.

#include <cuda_fp16.h>
#include <cuda_fp8.h>

#include <cstdint>

#include "kernels/common/wgmma.cuh"
#include "kernels/pairs/screen/kernels.hpp"
#include "plan/screen_policy.hpp"

namespace gpu::kernels {

#if defined(__CUDA_ARCH_FEAT_SM90_ALL)

__device__ __forceinline__ float from_e4m3(unsigned bits) {
  return __half2float(
      __half(__nv_cvt_fp8_to_halfraw(static_cast<__nv_fp8_storage_t>(bits), __NV_E4M3)));
}
/// The largest e4m3 value at most about `value`: rounding is to nearest, so aim a little lower.
__device__ __forceinline__ unsigned e4m3_below(float value) {
  return __nv_cvt_float_to_fp8(fmaxf(0.0F, value) * 0.94F, __NV_SATFINITE, __NV_E4M3);
}

template <screen_operand operand, int depth>
struct screen_multiply;

/// Bias bytes of the left rows and the limit that an unsigned sum must pass.
struct screen_threshold {
  unsigned bias_bytes;
  unsigned limit;
};

template <int depth>
struct screen_multiply<screen_operand::e4m3, depth> {
  using sum = unsigned;
  static constexpr int sums = 64;
  static constexpr int sets = 2;
  static constexpr bool biased = depth == 32;
  static constexpr int values_per_sum = 2;
  static constexpr float sum_loss = biased ? 0.0F : e4m3_deep_loss;  // else in the threshold

  __device__ __forceinline__ void operator()(sum (&d)[sums], std::uint64_t a, std::uint64_t b,
                                             int accumulate) const {
    wgmma_e4m3(d, a, b, accumulate);
  }
  static __device__ screen_threshold threshold(float least_sum) {
    if constexpr (!biased) {
      const float least = least_sum * (e4m3_deep_scale * e4m3_deep_scale);
      const unsigned bits = __half_as_ushort(__float2half_rd(fmaxf(least, 0.0F)));
      return {0, max(bits, 1U) - 1};
    }
    const float aim = fmaxf(least_sum - e4m3_sum_slack, e4m3_sum_slack);
    const unsigned coarse = e4m3_below(aim / e4m3_bias_coarse);
    const float coarse_bias = e4m3_bias_coarse * from_e4m3(coarse);
    const unsigned fine = e4m3_below((aim - coarse_bias) / e4m3_bias_fine);
    const float bias = coarse_bias + e4m3_bias_fine * from_e4m3(fine);
    return {coarse | (fine << 8), __half_as_ushort(__float2half_rd(2.0F * bias - 16.0F))};
  }
  static __device__ bool any(const sum (&d)[sums], unsigned limit) {
    unsigned even = 0;
    unsigned odd = 0;
#pragma unroll
    for (int i = 0; i < sums; i += 4) {
      even = __vimax3_u16x2(even, d[i], d[i + 1]);
      odd = __vimax3_u16x2(odd, d[i + 2], d[i + 3]);
    }
    unsigned both = __vmaxu2(even, odd);
    if constexpr (!biased) {
      // Read as unsigned, the largest is the strongest negative half; as signed, the positive one.
      unsigned positive = 0;
#pragma unroll
      for (int i = 0; i < sums; i += 2) positive = __vimax3_s16x2(positive, d[i], d[i + 1]);
      both = __vmaxu2(both & 0x7fff7fffU, positive);
    }
    return max(both >> 16, both & 0xffffU) > limit;
  }
  static __device__ bool passes(sum value, int part, unsigned limit) {
    const unsigned half = part == 0 ? value & 0xffffU : value >> 16;
    return (biased ? half : half & 0x7fffU) > limit;
  }
  /// Row (0 or 8) and column of part `part` of sum `i` for the lane's first row and column.
  static __device__ unsigned row_of(int i) { return static_cast<unsigned>(i & 1) * 8; }
  static __device__ unsigned column_of(int i, int part) {
    return static_cast<unsigned>((i >> 1) * 8 + part);
  }
};

template <int depth>
struct screen_multiply<screen_operand::int8, depth> {
  using sum = int;
  static constexpr int sums = 128;
  static constexpr int sets = 1;
  static constexpr bool biased = depth == 32;
  static constexpr int values_per_sum = 1;
  static constexpr float sum_loss = 0.0F;

  __device__ __forceinline__ void operator()(sum (&d)[sums], std::uint64_t a, std::uint64_t b,
                                             int accumulate) const {
    wgmma_s8(d, a, b, accumulate);
  }
  static __device__ screen_threshold threshold(float least_sum) {
    // sum > bias <=> sum >= least_sum, rounded down; the bias bytes hold it in base 127.
    // Blocks of padding ask for far more than any sum is: no limit may exceed an int, as which it
    // is compared.
    constexpr float most_limit = 1 << 30;
    const unsigned limit = static_cast<unsigned>(fminf(fmaxf(least_sum, 1.0F), most_limit)) - 1;
    if constexpr (!biased) return {0, limit};
    const unsigned most = int8_bias_unit * int8_bias_unit + int8_bias_unit - 1;
    const unsigned bias = min(limit, most);
    const unsigned coarse = bias / int8_bias_unit;
    return {coarse | ((bias - coarse * int8_bias_unit) << 8), 2 * bias};
  }
  static __device__ bool any(const sum (&d)[sums], unsigned limit) {
    if constexpr (biased) {
      unsigned even = 0;
      unsigned odd = 0;
#pragma unroll
      for (int i = 0; i < sums; i += 4) {
        even = max(max(even, static_cast<unsigned>(d[i])), static_cast<unsigned>(d[i + 1]));
        odd = max(max(odd, static_cast<unsigned>(d[i + 2])), static_cast<unsigned>(d[i + 3]));
      }
      return max(even, odd) > limit;
    } else {
      int most = 0;
      int least = 0;
#pragma unroll
      for (int i = 0; i < sums; i += 2) {
        most = max(max(most, d[i]), d[i + 1]);
        least = min(min(least, d[i]), d[i + 1]);
      }
      return max(most, -least) > static_cast<int>(limit);
    }
  }
  static __device__ bool passes(sum value, int, unsigned limit) {
    return biased ? static_cast<unsigned>(value) > limit : abs(value) > static_cast<int>(limit);
  }
  static __device__ unsigned row_of(int i) { return static_cast<unsigned>((i >> 1) & 1) * 8; }
  static __device__ unsigned column_of(int i, int) {
    return static_cast<unsigned>((i >> 2) * 8 + (i & 1));
  }
};

#endif  // __CUDA_ARCH_FEAT_SM90_ALL

}  // namespace gpu::kernels
