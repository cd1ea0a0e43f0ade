#pragma once
// Maxima of products in half precision, two to a register (sm_80).

#include <cstdint>

namespace gpu::kernels {

#if __CUDA_ARCH__ >= 800

/// Where nothing has been folded yet: NaN.
inline constexpr unsigned no_maxima = 0x7fff7fff;

/// Larger of each half, the number where the other is NaN: of the magnitudes, signs arbitrary, or
/// of the values.
template <bool magnitude>
__device__ __forceinline__ unsigned larger_halves(unsigned a, unsigned b) {
  unsigned out;
#if __CUDA_ARCH__ >= 860
  if constexpr (magnitude) {
    asm("max.xorsign.abs.f16x2 %0, %1, %2;" : "=r"(out) : "r"(a), "r"(b));
    return out;
  }
#endif
  constexpr unsigned kept = magnitude ? 0x7fff7fffU : ~0U;
  asm("max.f16x2 %0, %1, %2;" : "=r"(out) : "r"(a & kept), "r"(b & kept));
  return out;
}

template <bool magnitude>
__device__ __forceinline__ std::uint16_t larger_half(unsigned both) {
  const unsigned out = larger_halves<magnitude>(both, both >> 16);
  return static_cast<std::uint16_t>(out & (magnitude ? 0x7fffU : 0xffffU));
}

#endif

}  // namespace gpu::kernels
