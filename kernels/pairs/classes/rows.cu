// What surrounds the pair count: rows packed class by class, and their degrees brought back.

#include "kernels/common/launch.cuh"
#include "kernels/common/warp.cuh"
#include "kernels/pairs/classes/kernels.hpp"

namespace gpu::kernels {
namespace {

constexpr int threads = 256;

// One thread packs one row, 16 bytes at a time, into groups of eight rows whose 16-byte pieces
// stand together. The stride of the ranks is a multiple of 4.
__global__ void pack_kernel(screen_ranks source, class_rows packed) {
  const index_t i = static_cast<index_t>(blockIdx.x) * threads + threadIdx.x;
  if (i >= index_t{packed.extents->blocks} * count_block_rows) return;
  const std::uint32_t row = packed.slots[i];
  const auto* ranks = reinterpret_cast<const int*>(source.ranks + row * source.stride);
  std::uint8_t* out = packed.tiles + (i / 8) * 8 * packed.depth + (i % 8) * 16;
  const int words = row == empty_slot ? 0 : static_cast<int>(source.stride / 4);
  for (int piece = 0; piece < packed.depth / 16; ++piece) {
    int bytes[4];
#pragma unroll
    for (int b = 0; b < 4; ++b) bytes[b] = piece * 4 + b < words ? ranks[piece * 4 + b] : 0;
    *reinterpret_cast<int4*>(out + piece * 128) = make_int4(bytes[0], bytes[1], bytes[2], bytes[3]);
  }
}

__global__ void degrees_kernel(class_rows packed, const std::uint32_t* from, std::uint32_t* to,
                               unsigned long long* ends) {
  const index_t i = static_cast<index_t>(blockIdx.x) * threads + threadIdx.x;
  const std::uint32_t row = packed.slots[i];
  unsigned long long count = 0;
  if (row != empty_slot) {
    count = from[i];
    to[row] += from[i];
  }
  count = warp_sum(count);
  if (threadIdx.x % 32 == 0 && count != 0) atomicAdd(ends, count);
}

}  // namespace

void launch_class_pack(const screen_ranks& ranks, const class_rows& packed, cudaStream_t stream) {
  if (packed.padded_rows == 0) return;
  pack_kernel<<<grid_blocks(packed.padded_rows, threads), threads, 0, stream>>>(ranks, packed);
  GPU_SIMILARITY_CHECK_LAUNCH();
}

void launch_class_degrees(const class_rows& packed, const std::uint32_t* packed_degree,
                          std::uint32_t* degree, unsigned long long* ends, cudaStream_t stream) {
  static_assert(count_block_rows % threads == 0);
  if (packed.padded_rows == 0) return;
  degrees_kernel<<<grid_blocks(packed.padded_rows, threads), threads, 0, stream>>>(
      packed, packed_degree, degree, ends);
  GPU_SIMILARITY_CHECK_LAUNCH();
}

}  // namespace gpu::kernels
