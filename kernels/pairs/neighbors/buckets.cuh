#pragma once
// Lower bounds of the k-th best of a row: the k-th largest of the maxima of buckets of its
// partners, because k different partners reach it. And recorded maxima as numbers.

#include <cuda_fp16.h>

#include "kernels/common/warp.cuh"

namespace gpu::kernels {

__device__ __forceinline__ float half_value(unsigned bits) {
  return __half2float(__ushort_as_half(static_cast<unsigned short>(bits)));
}

/// Orders halves as unsigned integers from 1 on; 0 for NaN.
__device__ __forceinline__ unsigned ordered_half(unsigned half) {
  if ((half & 0x7fffU) > 0x7c00U) return 0;
  return (half & 0x8000U) != 0 ? ~half & 0xffffU : half | 0x8000U;
}
__device__ __forceinline__ float half_of_ordered(unsigned key) {
  return half_value((key & 0x8000U) != 0 ? key & 0x7fffU : ~key & 0xffffU);
}

/// The k-th largest of keys, a bucket each, of which every thread has some; 0 where fewer than k
/// are above 0. `top` is the highest bit of a key; sum(n) adds up n of all threads.
template <int count, class Sum>
__device__ __forceinline__ unsigned kth_largest(const unsigned (&keys)[count], unsigned top,
                                                unsigned k, const Sum& sum) {
  unsigned bound = 0;
  for (unsigned bit = top; bit != 0; bit >>= 1) {
    const unsigned trial = bound | bit;
    unsigned reached = 0;
#pragma unroll
    for (int h = 0; h < count; ++h) reached += keys[h] >= trial ? 1U : 0U;
    if (sum(reached) >= k) bound = trial;
  }
  return bound;
}

/// The same of the keys of a warp.
template <int count>
__device__ __forceinline__ unsigned kth_largest_of_warp(const unsigned (&keys)[count], unsigned top,
                                                        unsigned k) {
  return kth_largest(keys, top, k, [](unsigned value) { return warp_sum(value); });
}

}  // namespace gpu::kernels
