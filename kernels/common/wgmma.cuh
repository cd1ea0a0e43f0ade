#pragma once
// Hopper's warpgroup matrix instructions as this library uses them: both operands in shared
// memory, K-major, 64 rows. d[] is a thread's part of the product: with t the thread's number in
// its warpgroup, elements d[4 j + 2 h + x] of 32-bit sums are row t / 32 * 16 + t % 32 / 4 + 8 h,
// column 8 j + t % 4 * 2 + x; of half-precision sums, x are the halves of register d[2 j + h].

#include <cstdint>

namespace gpu::kernels {

#if defined(__CUDA_ARCH_FEAT_SM90_ALL)

__device__ __forceinline__ void wgmma_fence() {
  asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
}
__device__ __forceinline__ void wgmma_commit() {
  asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
}
/// Waits until at most `pending` committed groups of this warpgroup are still running.
template <int pending>
__device__ __forceinline__ void wgmma_wait() {
  asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(pending) : "memory");
}
/// Keeps the compiler from moving reads or writes of the accumulators across this point: it does
/// not know that the instruction runs on after its issue.
template <class Register, int count>
__device__ __forceinline__ void pin_registers(Register (&d)[count]) {
#pragma unroll
  for (int i = 0; i < count; ++i) asm volatile("" : "+r"(d[i])::"memory");
}
template <int count>
__device__ __forceinline__ void pin_registers(float (&d)[count]) {
#pragma unroll
  for (int i = 0; i < count; ++i) asm volatile("" : "+f"(d[i])::"memory");
}

/// Descriptor of an operand without swizzle whose rows stand in groups of eight:
/// [depth / 16][8 rows][16 bytes]. Core matrices follow each other every 128 bytes along the
/// depth, every 8 * depth along the rows.
__device__ __forceinline__ std::uint64_t operand_descriptor(unsigned shared_address, int depth) {
  return static_cast<std::uint64_t>((shared_address & 0x3ffffu) >> 4) |
         (static_cast<std::uint64_t>(128 >> 4) << 16) |
         (static_cast<std::uint64_t>((8 * depth) >> 4) << 32);
}
/// Descriptor of an operand with the 128-byte swizzle: rows 128 bytes apart, so groups of 8 rows
/// 1024 bytes apart.
__device__ __forceinline__ std::uint64_t swizzled_descriptor(unsigned shared_address) {
  constexpr std::uint64_t row_groups_apart = 1024 >> 4;
  constexpr std::uint64_t swizzle_128 = 1;
  return ((shared_address & 0x3ffffU) >> 4) | (std::uint64_t{1} << 16) | (row_groups_apart << 32) |
         (swizzle_128 << 62);
}

// The instruction names each of its registers. These write the lists: the names %0, %1, ... in its
// text, and the elements of d that they stand for. `kind` is "+r" or "+f".
#define GPU_SIMILARITY_NAMES_32                                          \
  "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15" \
  ", %16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31"
#define GPU_SIMILARITY_NAMES_64                                                      \
  GPU_SIMILARITY_NAMES_32                                                            \
  ", %32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47" \
  ", %48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63"
#define GPU_SIMILARITY_NAMES_96                                                      \
  GPU_SIMILARITY_NAMES_64                                                            \
  ", %64, %65, %66, %67, %68, %69, %70, %71, %72, %73, %74, %75, %76, %77, %78, %79" \
  ", %80, %81, %82, %83, %84, %85, %86, %87, %88, %89, %90, %91, %92, %93, %94, %95"
#define GPU_SIMILARITY_NAMES_128                                                                 \
  GPU_SIMILARITY_NAMES_96                                                                        \
  ", %96, %97, %98, %99, %100, %101, %102, %103, %104, %105, %106, %107, %108, %109, %110, %111" \
  ", %112, %113, %114, %115, %116, %117, %118, %119, %120, %121, %122, %123, %124, %125, %126, " \
  "%127"
#define GPU_SIMILARITY_BIND_4(kind, d, i) \
  kind(d[i]), kind(d[(i) + 1]), kind(d[(i) + 2]), kind(d[(i) + 3])
#define GPU_SIMILARITY_BIND_16(kind, d, i)                                    \
  GPU_SIMILARITY_BIND_4(kind, d, i), GPU_SIMILARITY_BIND_4(kind, d, (i) + 4), \
      GPU_SIMILARITY_BIND_4(kind, d, (i) + 8), GPU_SIMILARITY_BIND_4(kind, d, (i) + 12)
#define GPU_SIMILARITY_BIND_32(kind, d) \
  GPU_SIMILARITY_BIND_16(kind, d, 0), GPU_SIMILARITY_BIND_16(kind, d, 16)
#define GPU_SIMILARITY_BIND_64(kind, d)                                 \
  GPU_SIMILARITY_BIND_32(kind, d), GPU_SIMILARITY_BIND_16(kind, d, 32), \
      GPU_SIMILARITY_BIND_16(kind, d, 48)
#define GPU_SIMILARITY_BIND_96(kind, d)                                 \
  GPU_SIMILARITY_BIND_64(kind, d), GPU_SIMILARITY_BIND_16(kind, d, 64), \
      GPU_SIMILARITY_BIND_16(kind, d, 80)
#define GPU_SIMILARITY_BIND_128(kind, d)                                \
  GPU_SIMILARITY_BIND_96(kind, d), GPU_SIMILARITY_BIND_16(kind, d, 96), \
      GPU_SIMILARITY_BIND_16(kind, d, 112)

// The body of each function below, of `count` registers of a `kind`. The operands a, b and
// accumulate have the numbers behind those: count, `b_at` and `flag_at`.
#define GPU_SIMILARITY_WGMMA(instruction, modifiers, kind, count, b_at, flag_at)                   \
  asm volatile("{\n.reg .pred p;\nsetp.ne.b32 p, %" #flag_at                                       \
               ", 0;\nwgmma.mma_async.sync.aligned." instruction " {" GPU_SIMILARITY_NAMES_##count \
               "}, %" #count ", %" #b_at ", p" modifiers ";\n}"                                    \
               : GPU_SIMILARITY_BIND_##count(kind, d)                                              \
               : "l"(a), "l"(b), "r"(accumulate))

/// d = a b^T, plus d where `accumulate` is not 0, [64, 256]: half precision sums of e4m3 products,
/// two columns a register.
__device__ __forceinline__ void wgmma_e4m3(unsigned (&d)[64], std::uint64_t a, std::uint64_t b,
                                           int accumulate) {
  GPU_SIMILARITY_WGMMA("m64n256k32.f16.e4m3.e4m3", ", 1, 1", "+r", 64, 65, 66);
}

/// d = a b^T, plus d where `accumulate` is not 0, [64, 256], 16 halves deep: half precision sums of
/// half precision products, two columns a register.
__device__ __forceinline__ void wgmma_f16(unsigned (&d)[64], std::uint64_t a, std::uint64_t b,
                                          int accumulate) {
  GPU_SIMILARITY_WGMMA("m64n256k16.f16.f16.f16", ", 1, 1, 0, 0", "+r", 64, 65, 66);
}

/// The same with single precision sums, [64, 64].
__device__ __forceinline__ void wgmma_f16(float (&d)[32], std::uint64_t a, std::uint64_t b,
                                          int accumulate) {
  GPU_SIMILARITY_WGMMA("m64n64k16.f32.f16.f16", ", 1, 1, 0, 0", "+f", 32, 33, 34);
}

/// The same, [64, 128].
__device__ __forceinline__ void wgmma_f16(float (&d)[64], std::uint64_t a, std::uint64_t b,
                                          int accumulate) {
  GPU_SIMILARITY_WGMMA("m64n128k16.f32.f16.f16", ", 1, 1, 0, 0", "+f", 64, 65, 66);
}

/// The same, [64, 192].
__device__ __forceinline__ void wgmma_f16(float (&d)[96], std::uint64_t a, std::uint64_t b,
                                          int accumulate) {
  GPU_SIMILARITY_WGMMA("m64n192k16.f32.f16.f16", ", 1, 1, 0, 0", "+f", 96, 97, 98);
}

/// The same, [64, 256].
__device__ __forceinline__ void wgmma_f16(float (&d)[128], std::uint64_t a, std::uint64_t b,
                                          int accumulate) {
  GPU_SIMILARITY_WGMMA("m64n256k16.f32.f16.f16", ", 1, 1, 0, 0", "+f", 128, 129, 130);
}

/// d = a b^T, plus d where `accumulate` is not 0, [64, 256], 32 bytes deep: exact integer sums.
__device__ __forceinline__ void wgmma_s8(int (&d)[128], std::uint64_t a, std::uint64_t b,
                                         int accumulate) {
  GPU_SIMILARITY_WGMMA("m64n256k32.s32.s8.s8", "", "+r", 128, 129, 130);
}

/// d = popcount(a & b^T), plus d where `accumulate` is not 0, [64, 256], 256 bits deep.
__device__ __forceinline__ void wgmma_b1(int (&d)[128], std::uint64_t a, std::uint64_t b,
                                         int accumulate) {
  GPU_SIMILARITY_WGMMA("m64n256k256.s32.b1.b1.and.popc", "", "+r", 128, 129, 130);
}

#undef GPU_SIMILARITY_NAMES_32
#undef GPU_SIMILARITY_NAMES_64
#undef GPU_SIMILARITY_NAMES_96
#undef GPU_SIMILARITY_NAMES_128
#undef GPU_SIMILARITY_BIND_4
#undef GPU_SIMILARITY_BIND_16
#undef GPU_SIMILARITY_BIND_32
#undef GPU_SIMILARITY_BIND_64
#undef GPU_SIMILARITY_BIND_96
#undef GPU_SIMILARITY_BIND_128
#undef GPU_SIMILARITY_WGMMA

#endif  // __CUDA_ARCH_FEAT_SM90_ALL

}  // namespace gpu::kernels
