// Unit rows in half precision, placed for the first half of the neighbour search.

#include <cuda_fp16.h>

#include "kernels/common/launch.cuh"
#include "kernels/pairs/neighbors/kernels.hpp"
#include "kernels/pairs/neighbors/packing.hpp"

namespace gpu::kernels {
namespace {

constexpr int threads = 256;

// One thread packs one row: eight halves at a time, so that eight threads write 128 consecutive
// bytes.
__global__ void pack_kernel(pair_operand source, neighbor_rows packed) {
  const index_t position = static_cast<index_t>(blockIdx.x) * threads + threadIdx.x;
  if (position >= packed.padded_rows) return;
  const index_t place = neighbor_row_at(position);
  const index_t row = packed.first + place;
  const bool valid = place < packed.rows && source.square_sums[row] > 0;
  const auto* ranks = static_cast<const std::int8_t*>(source.values) + row * source.pitch;
  const double* unit =
      source.unit_rows == nullptr ? nullptr : source.unit_rows + row * source.unit_pitch;
  const index_t columns = unit == nullptr ? source.columns : source.unit_pitch;
  const float inverse = valid ? source.norms[row].inverse : 0.0F;
  std::uint8_t* out = packed.tiles + neighbor_offset(position, packed.depth);
  for (int piece = 0; piece < packed.depth / 16; ++piece) {
    alignas(16) __half halves[8];
#pragma unroll
    for (int b = 0; b < 8; ++b) {
      const int k = piece * 8 + b;
      if (!valid) {
        halves[b] = __ushort_as_half(half_nan);
      } else if (k >= columns) {
        halves[b] = __ushort_as_half(0);
      } else {
        halves[b] = unit == nullptr ? __float2half_rn(static_cast<float>(ranks[k]) * inverse)
                                    : __double2half(unit[k]);
      }
    }
    *reinterpret_cast<uint4*>(out + piece * 128) = *reinterpret_cast<const uint4*>(halves);
  }
}

}  // namespace

void launch_neighbor_pack(const pair_operand& source, const neighbor_rows& packed,
                          cudaStream_t stream) {
  if (packed.padded_rows == 0) return;
  pack_kernel<<<grid_blocks(packed.padded_rows, threads), threads, 0, stream>>>(source, packed);
  GPU_SIMILARITY_CHECK_LAUNCH();
}

}  // namespace gpu::kernels
