#pragma once
// What the kernels share that multiply bits by warpgroups (compute capability 9.0): a block of 3
// warpgroups computes tiles of 192 x 256 counts from stages of 64 bytes of depth, operands prepared
// as tiles.

#include <cstdint>

#include "kernels/common/wgmma.cuh"
#include "plan/binary_matmul_policy.hpp"

namespace gpu::kernels::bit_hopper {

using policy = bit_hopper_policy;

inline constexpr int left_bytes = policy::tile_rows * policy::depth_bytes;
inline constexpr int right_bytes = policy::tile_cols * policy::depth_bytes;
inline constexpr int stage_bytes = left_bytes + right_bytes;
inline constexpr int ring_bytes = policy::stages * stage_bytes;
// Rows of counts are 16 bytes apart in banks: the eight rows that a warp writes at once differ.
inline constexpr int count_pitch = policy::tile_cols * 2 + 16;

#if defined(__CUDA_ARCH_FEAT_SM90_ALL)

// Counts of one warp's 16 x 256 results to shared memory, two columns a word.
__device__ __forceinline__ void put_counts(const int (&sums)[128], std::uint8_t* counts) {
  const int lane = static_cast<int>(threadIdx.x) % 32;
  std::uint8_t* top = counts + lane / 4 * count_pitch + lane % 4 * 4;
#pragma unroll
  for (int j = 0; j < 32; ++j) {
    *reinterpret_cast<unsigned*>(top + j * 16) = __byte_perm(
        static_cast<unsigned>(sums[j * 4]), static_cast<unsigned>(sums[j * 4 + 1]), 0x5410);
    *reinterpret_cast<unsigned*>(top + j * 16 + 8 * count_pitch) = __byte_perm(
        static_cast<unsigned>(sums[j * 4 + 2]), static_cast<unsigned>(sums[j * 4 + 3]), 0x5410);
  }
}

// The operands of a warpgroup in the ring.
struct bit_operands {
  std::uint64_t left;
  std::uint64_t right;

  __device__ __forceinline__ bit_operands(unsigned first_stage, int warpgroup) {
    const std::uint64_t base = operand_descriptor(first_stage, policy::depth_bytes);
    left = base + (static_cast<std::uint64_t>(warpgroup * 64 * policy::depth_bytes) >> 4);
    right = base + static_cast<std::uint64_t>(left_bytes >> 4);
  }
};

// Starts sums = or += the product of a stage.
__device__ __forceinline__ void multiply_stage(int (&sums)[128], const bit_operands& operands,
                                               unsigned stage, bool add) {
  const auto offset = static_cast<std::uint64_t>((stage * stage_bytes) >> 4);
#pragma unroll
  for (int step = 0; step < policy::depth_bytes / 32; ++step) {
    const auto at = offset + static_cast<std::uint64_t>(step * (256 >> 4));
    wgmma_b1(sums, operands.left + at, operands.right + at, add || step > 0 ? 1 : 0);
  }
  wgmma_commit();
}

#endif

}  // namespace gpu::kernels::bit_hopper
