#pragma once
// One value made from those of the 32 lanes of a warp, or of each group of neighbours among them.
// All 32 lanes call, and each of them gets it. Integers of 32 bits of a whole warp take one
// instruction from sm_80 on (redux.sync), other values are shuffled.

#include <type_traits>

namespace gpu::kernels {

inline constexpr unsigned all_lanes = 0xffffffffu;

template <class T>
inline constexpr bool has_redux = std::is_integral_v<T> && sizeof(T) == 4;

/// By value = combine(value, that of the lane 16, 8, 4, 2 and 1 apart), in this order: sums of
/// floating point depend on it. Of groups of `lanes` lanes, a power of two, from lanes / 2 on.
template <int lanes = 32, class T, class Combine>
__device__ __forceinline__ T warp_reduce(T value, const Combine& combine) {
#pragma unroll
  for (int apart = lanes / 2; apart > 0; apart /= 2) {
    value = combine(value, __shfl_xor_sync(all_lanes, value, apart));
  }
  return value;
}

/// The sum of each `lanes` lanes.
template <int lanes, class T>
__device__ __forceinline__ T group_sum(T value) {
  return warp_reduce<lanes>(value, [](T a, T b) { return a + b; });
}

template <class T>
__device__ __forceinline__ T warp_sum(T value) {
#if __CUDA_ARCH__ >= 800
  if constexpr (has_redux<T>) return __reduce_add_sync(all_lanes, value);
#endif
  return group_sum<32>(value);
}

/// The largest; of floating point the largest number, NaN where all are NaN.
template <class T>
__device__ __forceinline__ T warp_max(T value) {
#if __CUDA_ARCH__ >= 800
  if constexpr (has_redux<T>) return __reduce_max_sync(all_lanes, value);
#endif
  return warp_reduce(value, [](T a, T b) { return max(a, b); });
}

/// The least; of floating point the least number, NaN where all are NaN.
template <class T>
__device__ __forceinline__ T warp_min(T value) {
#if __CUDA_ARCH__ >= 800
  if constexpr (has_redux<T>) return __reduce_min_sync(all_lanes, value);
#endif
  return warp_reduce(value, [](T a, T b) { return min(a, b); });
}

/// The bits that are set in any lane.
__device__ __forceinline__ unsigned warp_or(unsigned bits) {
#if __CUDA_ARCH__ >= 800
  return __reduce_or_sync(all_lanes, bits);
#else
  return warp_reduce(bits, [](unsigned a, unsigned b) { return a | b; });
#endif
}

}  // namespace gpu::kernels
