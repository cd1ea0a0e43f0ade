#pragma once
// Tiles of 8-bit products by warpgroups (sm_90a): each of three warpgroups multiplies 64 left rows
// by 256 right rows over planes of 64 columns, which stream through shared memory. A stage holds 64
// columns of 192 left rows, then those of 256 right rows, in groups of eight rows whose 16-byte
// pieces stand side by side.

#include "kernels/common/warpgroup_stream.cuh"
#include "kernels/common/wgmma.cuh"

namespace gpu::kernels {

constexpr int s8_tile_left = 192;
constexpr int s8_tile_right = 256;
constexpr int s8_plane_columns = 64;
constexpr unsigned s8_left_bytes = s8_tile_left * s8_plane_columns;
constexpr unsigned s8_right_bytes = s8_tile_right * s8_plane_columns;
constexpr unsigned s8_stage_bytes = s8_left_bytes + s8_right_bytes;
constexpr int s8_warpgroups = s8_tile_left / 64;

#if defined(__CUDA_ARCH_FEAT_SM90_ALL)

/// The warpgroup's 64 left rows and the 256 right rows of the first stage.
struct s8_operands {
  std::uint64_t left;
  std::uint64_t right;

  __device__ __forceinline__ s8_operands(unsigned first_stage, int warpgroup)
      : left(operand_descriptor(
            first_stage + static_cast<unsigned>(warpgroup) * 64 * s8_plane_columns,
            s8_plane_columns)),
        right(operand_descriptor(first_stage + s8_left_bytes, s8_plane_columns)) {}
};

/// sums = the warpgroup's part of a tile over the next `planes` loads of the stream, at least one.
/// `position` advances by them.
template <class Stream>
__device__ __forceinline__ void multiply_planes(const Stream& stream, const s8_operands& operands,
                                                typename Stream::position& position, int planes,
                                                int (&sums)[128]) {
  unsigned previous = 0;
#pragma unroll 1
  for (int plane = 0; plane < planes; ++plane) {
    stream.wait_until_full(position);
    const std::uint64_t step = (position.stage * s8_stage_bytes) >> 4;
    pin_registers(sums);
    wgmma_fence();
    wgmma_s8(sums, operands.left + step, operands.right + step, plane);
    wgmma_s8(sums, operands.left + step + (256 >> 4), operands.right + step + (256 >> 4), 1);
    wgmma_commit();
    pin_registers(sums);
    stream.issue();
    if (plane > 0) {
      wgmma_wait<1>();
      stream.release(previous);
    }
    previous = position.stage;
    position.advance();
  }
  wgmma_wait<0>();
  pin_registers(sums);
  stream.release(previous);
}

#endif

}  // namespace gpu::kernels
