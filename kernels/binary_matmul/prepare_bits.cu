// Packs numbers into bits, and copies bits into the padded forms that the tiled kernels read.

#include "binary_matmul/binary_matmul_kernels.hpp"
#include "common/launch.cuh"

namespace gpu::kernels {
namespace {

constexpr int threads = 256;
// Pieces of 16 bytes that one warp copies of each of its eight rows: long rows are shared out.
constexpr index_t pieces_per_warp = 64;
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
template <bit_layout layout>
__global__ void __launch_bounds__(threads)
    prepare_bits_kernel(device_bit_matrix_view bits, prepared_bits out, int per_one) {
  const unsigned lane = threadIdx.x % 32;
  const index_t row =
      (static_cast<index_t>(blockIdx.x) * (threads / 32) + threadIdx.x / 32) * 8 + lane % 8;
  const index_t words = bit_words(bits.cols());
  const bool real = row < out.rows;
  const std::uint32_t* source = real ? bits.words() + row * bits.row_words() : bits.words();
  const unsigned tail = bits.cols() % 32 == 0 ? ~0U : (1U << (bits.cols() % 32)) - 1;
  const index_t pieces = out.chunks * (bit_chunk_words / 4);
  const index_t step = gridDim.y * pieces_per_warp;
  int ones = 0;
  for (index_t first = blockIdx.y * pieces_per_warp; first < pieces; first += step) {
    const index_t last = min(pieces, first + pieces_per_warp);
    for (index_t piece = first + lane / 8; piece < last; piece += 4) {
      alignas(16) std::uint32_t word[4];
#pragma unroll
      for (int w = 0; w < 4; ++w) {
        const index_t at = piece * 4 + w;
        word[w] = real && at < words ? source[at] & (at + 1 == words ? tail : ~0U) : 0;
        ones += __popc(word[w]);
      }
      index_t offset = row * out.chunks * bit_chunk_words + piece * 4;
      if constexpr (layout == bit_layout::tiles) {
        offset = piece / 8 * out.padded_rows * bit_chunk_words + row / 8 * (8 * bit_chunk_words) +
                 piece % 8 * 32 + row % 8 * 4;
      }
      *reinterpret_cast<int4*>(out.words + offset) = *reinterpret_cast<const int4*>(word);
    }
  }
  ones += __shfl_xor_sync(~0U, ones, 8);
  ones += __shfl_xor_sync(~0U, ones, 16);
  if (lane < 8) atomicAdd(out.row_offsets + row, per_one * ones);
}

__global__ void fill_offsets_kernel(prepared_bits out, int constant) {
  const index_t row = static_cast<index_t>(blockIdx.x) * threads + threadIdx.x;
  if (row < out.padded_rows) out.row_offsets[row] = constant;
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

void launch_prepare_bits(device_bit_matrix_view bits, bit_layout layout, int per_one, int constant,
                         const prepared_bits& out, cudaStream_t stream) {
  if (out.padded_rows == 0) return;
  fill_offsets_kernel<<<grid_blocks(out.padded_rows, threads), threads, 0, stream>>>(out, constant);
  GPU_SIMILARITY_CHECK_LAUNCH();
  const dim3 blocks(
      static_cast<unsigned>(out.padded_rows / (threads / 32 * 8)),
      grid_blocks(out.chunks * (bit_chunk_words / 4), pieces_per_warp, most_grid_rows));
  if (layout == bit_layout::rows) {
    prepare_bits_kernel<bit_layout::rows><<<blocks, threads, 0, stream>>>(bits, out, per_one);
  } else {
    prepare_bits_kernel<bit_layout::tiles><<<blocks, threads, 0, stream>>>(bits, out, per_one);
  }
  GPU_SIMILARITY_CHECK_LAUNCH();
}

}  // namespace gpu::kernels
