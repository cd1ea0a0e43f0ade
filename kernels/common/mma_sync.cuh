#pragma once
// Products of a warp on the tensor cores by mma.sync, each with one meaning on every device.
// Compute capability 8.0 and newer have these shapes; 7.5 has halves of them, whose fragments are
// parts of the same registers.
//
// Of a product of 16 rows by 8 columns, with g = lane / 4 and t = lane % 4, the registers of a lane
// belong to rows g (a[0], a[2]) and g + 8 (a[1], a[3]) of the left operand, and to column g (b[0],
// b[1]) of the right one. Sums 0 and 1 are of row g, columns 2t and 2t + 1, sums 2 and 3 of row g
// + 8.

#include <cuda_fp16.h>

namespace gpu::kernels {

/// Whether kernels that multiply by these functions are more than empty. A device of 7.0 has other
/// fragments.
#if __CUDA_ARCH__ >= 750
#define GPU_SIMILARITY_HAS_MMA_SYNC 1
#endif

/// d += a * b, 32 columns deep: four 8-bit integers a register, sums of 32 bits.
__device__ __forceinline__ void mma_s8(int (&d)[4], const int (&a)[4], const int (&b)[2]) {
#if __CUDA_ARCH__ >= 800
  asm volatile(
      "mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, "
      "{%0,%1,%2,%3};"
      : "+r"(d[0]), "+r"(d[1]), "+r"(d[2]), "+r"(d[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
#elif __CUDA_ARCH__ >= 750
#pragma unroll
  for (int half = 0; half < 2; ++half) {
#pragma unroll
    for (int step = 0; step < 2; ++step) {
      asm volatile("mma.sync.aligned.m8n8k16.row.col.s32.s8.s8.s32 {%0,%1}, {%2}, {%3}, {%0,%1};"
                   : "+r"(d[2 * half]), "+r"(d[2 * half + 1])
                   : "r"(a[2 * step + half]), "r"(b[step]));
    }
  }
#endif
}

/// d += a * b, 16 columns deep: two halves a register, sums in single precision.
__device__ __forceinline__ void mma_half(float (&d)[4], const int (&a)[4], const int (&b)[2]) {
#if __CUDA_ARCH__ >= 800
  asm volatile(
      "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, "
      "{%0,%1,%2,%3};"
      : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
#elif __CUDA_ARCH__ >= 750
#pragma unroll
  for (int step = 0; step < 2; ++step) {
    asm volatile(
        "mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5}, {%6}, "
        "{%0,%1,%2,%3};"
        : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
        : "r"(a[2 * step]), "r"(a[2 * step + 1]), "r"(b[step]));
  }
#endif
}

/// Columns of which mma_half_sums and the warpgroup products of compute capability 9.0 round the
/// sums at a time.
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 800
inline constexpr int half_sum_columns = 8;
#else
inline constexpr int half_sum_columns = 16;
#endif

/// The same with sums in half precision, two to a register: d[0] of row g, d[1] of row g + 8.
__device__ __forceinline__ void mma_half_sums(unsigned (&d)[2], const unsigned (&a)[4], unsigned b0,
                                              unsigned b1) {
#if __CUDA_ARCH__ >= 800
  asm("mma.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16 {%0, %1}, {%2, %3, %4, %5}, {%6, %7}, "
      "{%0, %1};"
      : "+r"(d[0]), "+r"(d[1])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
#elif __CUDA_ARCH__ >= 750
  asm("mma.sync.aligned.m16n8k8.row.col.f16.f16.f16.f16 {%0, %1}, {%2, %3}, {%4}, {%0, %1};"
      : "+r"(d[0]), "+r"(d[1])
      : "r"(a[0]), "r"(a[1]), "r"(b0));
  asm("mma.sync.aligned.m16n8k8.row.col.f16.f16.f16.f16 {%0, %1}, {%2, %3}, {%4}, {%0, %1};"
      : "+r"(d[0]), "+r"(d[1])
      : "r"(a[2]), "r"(a[3]), "r"(b1));
#endif
}

/// What mma_tf32 multiplies its operands by, so that the halves that stand for them on 7.5 hold
/// elements of unit rows as tf32 does: their significands are as long, their exponents are not.
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 800
inline constexpr float tf32_scale = 0x1p15F;
#else
inline constexpr float tf32_scale = 1;
#endif

/// d += tf32_scale^2 a * b, 8 columns deep: a tf32 float a register, sums in single precision.
/// Magnitudes up to 1; below 2^-29 elements are rounded to multiples of 2^-39 on 7.5.
__device__ __forceinline__ void mma_tf32(float (&d)[4], const int (&a)[4], const int (&b)[2]) {
#if __CUDA_ARCH__ >= 800
  asm volatile(
      "mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, "
      "{%0,%1,%2,%3};"
      : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
#elif __CUDA_ARCH__ >= 750
  // The order of the columns does not matter: those of two registers lie side by side.
  const auto halves = [](int low, int high) {
    const __half2 both =
        __floats2half2_rn(__int_as_float(low) * tf32_scale, __int_as_float(high) * tf32_scale);
    return *reinterpret_cast<const unsigned*>(&both);
  };
  asm volatile(
      "mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5}, {%6}, "
      "{%0,%1,%2,%3};"
      : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
      : "r"(halves(a[0], a[2])), "r"(halves(a[1], a[3])), "r"(halves(b[0], b[1])));
#endif
}

}  // namespace gpu::kernels
