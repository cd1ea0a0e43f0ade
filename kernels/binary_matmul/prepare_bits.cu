// Packs numbers into bits, and copies bits into the padded forms that the tiled kernels read.

#include <algorithm>

#include "kernels/binary_matmul/kernels.hpp"
#include "kernels/common/launch.cuh"

namespace gpu::kernels {
namespace {

constexpr int threads = 256;
// Pieces of 16 bytes that one warp copies of each of its eight rows: long rows are shared out.
constexpr index_t pieces_per_warp = 16;
// The y dimension of a grid ends here; longer rows are walked by a stride.
constexpr index_t most_grid_rows = 65535;

// One warp packs 32 consecutive values of a row into one word: lane k reads value k, so reads
// are coalesced whatever the type, and the ballot is the word.
template <class T>
__global__ void __launch_bounds__(threads)
    pack_bits_kernel(device_matrix_view<const T> data, mutable_device_bit_matrix_view bits,
                     T threshold) {
  const index_t words = bit_words(data.cols());
  const index_t total = data.rows() * words;
  const index_t step = static_cast<index_t>(gridDim.x) * (threads / 32);
  const unsigned lane = threadIdx.x % 32;
  for (index_t at = static_cast<index_t>(blockIdx.x) * (threads / 32) + threadIdx.x / 32;
       at < total; at += step) {
    const index_t row = at / words;
    const index_t word = at % words;
    const index_t col = word * 32 + lane;
    const bool one = col < data.cols() && data.data()[row * data.row_stride() + col] >= threshold;
    const unsigned packed = __ballot_sync(~0U, one);
    if (lane == 0) bits.words()[row * bits.row_words() + word] = packed;
  }
}

// One warp copies eight rows, 16 bytes a lane at a time: lane k takes row k % 8 and every fourth
// piece from k / 8 on, so that in the tiled layout eight lanes write 128 consecutive bytes. What
// lies past the last column is masked, and the ones of each row are added up. One row a warp wrote
// half a sector to each line and ran at a quarter of the speed.
// blockIdx.z is 0 for the left operand, 1 for the right.
template <bit_layout layout>
__global__ void __launch_bounds__(threads)
    prepare_bits_kernel(const __grid_constant__ bit_preparation left,
                        const __grid_constant__ bit_preparation right, int per_one) {
  const bit_preparation& job = blockIdx.z == 0 ? left : right;
  const device_bit_matrix_view& bits = job.bits;
  const prepared_bits& out = job.out;
  const unsigned lane = threadIdx.x % 32;
  const index_t row =
      (static_cast<index_t>(blockIdx.x) * (threads / 32) + threadIdx.x / 32) * 8 + lane % 8;
  if (row >= out.padded_rows) return;  // the other operand has more; whole warps
  const index_t words = bit_words(bits.cols());
  const bool real = row < out.rows;
  const std::uint32_t* source = real ? bits.words() + row * bits.row_words() : bits.words();
  const bool vectors =
      bits.row_words() % 4 == 0 && reinterpret_cast<std::uintptr_t>(bits.words()) % 16 == 0;
  const unsigned tail = bits.cols() % 32 == 0 ? ~0U : (1U << (bits.cols() % 32)) - 1;
  const index_t pieces = out.chunks * (bit_chunk_words / 4);
  const index_t step = gridDim.y * pieces_per_warp;
  int ones = 0;
  for (index_t first = blockIdx.y * pieces_per_warp; first < pieces; first += step) {
    // All reads first, so that they are under way together.
    constexpr int pieces_per_lane = pieces_per_warp / 4;
    alignas(16) std::uint32_t word[pieces_per_lane][4];
#pragma unroll
    for (int i = 0; i < pieces_per_lane; ++i) {
      const index_t piece = first + i * 4 + lane / 8;
      if (real && vectors && piece * 4 + 4 < words) {
        *reinterpret_cast<int4*>(word[i]) = *reinterpret_cast<const int4*>(source + piece * 4);
        continue;
      }
#pragma unroll
      for (int w = 0; w < 4; ++w) {
        const index_t at = piece * 4 + w;
        word[i][w] = real && at < words ? source[at] & (at + 1 == words ? tail : ~0U) : 0;
      }
    }
#pragma unroll
    for (int i = 0; i < pieces_per_lane; ++i) {
      const index_t piece = first + i * 4 + lane / 8;
      if (piece >= pieces) break;
#pragma unroll
      for (const std::uint32_t w : word[i]) ones += __popc(w);
      index_t offset = row * out.chunks * bit_chunk_words + piece * 4;
      if constexpr (layout == bit_layout::tiles) {
        constexpr int depth_pieces = bit_hopper_policy::depth_bytes / 16;
        offset = piece / depth_pieces * out.padded_rows * (depth_pieces * 4) +
                 row / 8 * (8 * depth_pieces * 4) + piece % depth_pieces * 32 + row % 8 * 4;
      }
      *reinterpret_cast<int4*>(out.words + offset) = *reinterpret_cast<const int4*>(word[i]);
    }
  }
  ones += __shfl_xor_sync(~0U, ones, 8);
  ones += __shfl_xor_sync(~0U, ones, 16);
  const int constant = blockIdx.y == 0 ? job.constant : 0;
  if (lane < 8) atomicAdd(out.row_offsets + row, per_one * ones + constant);
}

}  // namespace

template <class T>
void launch_pack_bits(device_matrix_view<const T> data, mutable_device_bit_matrix_view bits,
                      T threshold, cudaStream_t stream) {
  if (data.empty()) return;
  const index_t words = data.rows() * bit_words(data.cols());
  const unsigned blocks = grid_blocks(words, threads / 32, 1 << 20);
  pack_bits_kernel<<<blocks, threads, 0, stream>>>(data, bits, threshold);
  GPU_SIMILARITY_CHECK_LAUNCH();
}

template void launch_pack_bits(device_matrix_view<const std::int8_t>,
                               mutable_device_bit_matrix_view, std::int8_t, cudaStream_t);
template void launch_pack_bits(device_matrix_view<const std::int16_t>,
                               mutable_device_bit_matrix_view, std::int16_t, cudaStream_t);
template void launch_pack_bits(device_matrix_view<const std::int32_t>,
                               mutable_device_bit_matrix_view, std::int32_t, cudaStream_t);
template void launch_pack_bits(device_matrix_view<const std::uint8_t>,
                               mutable_device_bit_matrix_view, std::uint8_t, cudaStream_t);
template void launch_pack_bits(device_matrix_view<const std::uint16_t>,
                               mutable_device_bit_matrix_view, std::uint16_t, cudaStream_t);
template void launch_pack_bits(device_matrix_view<const float>, mutable_device_bit_matrix_view,
                               float, cudaStream_t);
template void launch_pack_bits(device_matrix_view<const double>, mutable_device_bit_matrix_view,
                               double, cudaStream_t);

void launch_prepare_bits(const bit_preparation& left, const bit_preparation& right,
                         bit_layout layout, int per_one, cudaStream_t stream) {
  const index_t rows = std::max(left.out.padded_rows, right.out.padded_rows);
  const index_t pieces = left.out.chunks * (bit_chunk_words / 4);
  if (rows == 0) return;
  const dim3 blocks(static_cast<unsigned>(ceil_div(rows, threads / 32 * 8)),
                    grid_blocks(pieces, pieces_per_warp, most_grid_rows), 2);
  if (layout == bit_layout::rows) {
    prepare_bits_kernel<bit_layout::rows><<<blocks, threads, 0, stream>>>(left, right, per_one);
  } else {
    prepare_bits_kernel<bit_layout::tiles><<<blocks, threads, 0, stream>>>(left, right, per_one);
  }
  GPU_SIMILARITY_CHECK_LAUNCH();
}

}  // namespace gpu::kernels
