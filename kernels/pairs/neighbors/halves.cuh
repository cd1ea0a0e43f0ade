#pragma once
// Recorded maxima as numbers: halves in the order of unsigned integers.

#include <cuda_fp16.h>

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

}  // namespace gpu::kernels
