#pragma once
// Maxima of products in half precision, two to a register (sm_75 and newer).

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

/// The larger half of the two, NaN where both are.
template <bool magnitude>
__device__ __forceinline__ std::uint16_t larger_half(unsigned both) {
  const unsigned out = larger_halves<magnitude>(both, both >> 16);
  return static_cast<std::uint16_t>(out & (magnitude ? 0x7fffU : 0xffffU));
}

#elif __CUDA_ARCH__ >= 750

/// Where nothing has been folded yet: -infinity, which every number exceeds and no NaN does.
inline constexpr unsigned no_maxima = 0xfc00fc00;

/// Larger of each half of `best` and of the value or magnitude of `more`; `best` where that is NaN.
template <bool magnitude>
__device__ __forceinline__ unsigned larger_halves(unsigned best, unsigned more) {
  if constexpr (magnitude) more &= 0x7fff7fffU;
  unsigned exceeds;  // all bits of the halves where `more` does
  asm("set.gt.u32.f16x2 %0, %1, %2;" : "=r"(exceeds) : "r"(more), "r"(best));
  return (more & exceeds) | (best & ~exceeds);
}

/// The larger half of the two, NaN where neither has been folded.
template <bool magnitude>
__device__ __forceinline__ std::uint16_t larger_half(unsigned both) {
  const unsigned half = larger_halves<false>(both, both >> 16) & 0xffffU;
  return static_cast<std::uint16_t>(half == (no_maxima & 0xffffU) ? 0x7fffU : half);
}

#endif

}  // namespace gpu::kernels
