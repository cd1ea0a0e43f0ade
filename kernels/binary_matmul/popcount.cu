// The variants of the binary multiply that count bits with POPC. Its rate, 16 words a clock and
// multiprocessor, bounds all three; they differ in how often they wait for memory.

#include "kernels/binary_matmul/kernels.hpp"
#include "kernels/common/launch.cuh"
#include "kernels/common/warp.cuh"

namespace gpu::kernels {
namespace {

constexpr int threads = 256;
// Grid dimensions y and z end at 65,535; rows beyond are walked by a stride.
constexpr index_t most_grid_rows = 65535;

template <bit_product product>
__device__ __forceinline__ int count(std::uint32_t a, std::uint32_t b) {
  return __popc(product == bit_product::and_count ? a & b : a ^ b);
}
template <bit_product product>
__device__ __forceinline__ std::int32_t finish(int counted, index_t cols) {
  return product == bit_product::xnor_dot ? static_cast<std::int32_t>(cols - 2 * counted) : counted;
}

__device__ __forceinline__ unsigned tail_mask(index_t cols) {
  return cols % 32 == 0 ? ~0U : (1U << (cols % 32)) - 1;
}

// popcount: one thread computes one result from global memory. Neighbours in x share the row of a
// and read different rows of b, uncoalesced.
template <bit_product product>
__global__ void __launch_bounds__(threads)
    popcount_kernel(device_bit_matrix_view a, device_bit_matrix_view b,
                    device_matrix_view<std::int32_t> out) {
  const index_t words = bit_words(a.cols());
  const unsigned tail = tail_mask(a.cols());
  const index_t col = static_cast<index_t>(blockIdx.x) * threads + threadIdx.x;
  if (col >= b.rows()) return;
  for (index_t row = blockIdx.y; row < a.rows(); row += gridDim.y) {
    const std::uint32_t* x = a.row(row);
    const std::uint32_t* y = b.row(col);
    int counted = 0;
    for (index_t w = 0; w + 1 < words; ++w) counted += count<product>(x[w], y[w]);
    if (words > 0) counted += count<product>(x[words - 1] & tail, y[words - 1] & tail);
    out.data()[row * out.row_stride() + col] = finish<product>(counted, a.cols());
  }
}

// popcount_shared: a block holds one row of a in shared memory; each warp takes rows of b, its
// lanes read consecutive words, and a shuffle tree adds up. Reads of b are coalesced and each
// word of a is read from memory once a block.
template <bit_product product>
__global__ void __launch_bounds__(threads)
    popcount_shared_kernel(device_bit_matrix_view a, device_bit_matrix_view b,
                           device_matrix_view<std::int32_t> out) {
  extern __shared__ std::uint32_t row_of_a[];
  const index_t words = bit_words(a.cols());
  const unsigned tail = tail_mask(a.cols());
  const unsigned lane = threadIdx.x % 32;
  for (index_t row = blockIdx.x; row < a.rows(); row += gridDim.x) {
    for (index_t w = threadIdx.x; w < words; w += threads) {
      row_of_a[w] = a.row(row)[w] & (w + 1 == words ? tail : ~0U);
    }
    __syncthreads();
    for (index_t col = static_cast<index_t>(blockIdx.y) * (threads / 32) + threadIdx.x / 32;
         col < b.rows(); col += static_cast<index_t>(gridDim.y) * (threads / 32)) {
      const std::uint32_t* y = b.row(col);
      int counted = 0;
      for (index_t w = lane; w < words; w += 32) {
        counted += count<product>(row_of_a[w], y[w] & (w + 1 == words ? tail : ~0U));
      }
      counted = warp_sum(counted);
      if (lane == 0) out.data()[row * out.row_stride() + col] = finish<product>(counted, a.cols());
    }
    __syncthreads();
  }
}

// popcount_tiled: a block of 16 x 16 threads computes 64 x 64 results, 4 x 4 a thread at distance
// 16. Both tiles lie in shared memory with a pitch of 33 words: the 16 rows that half a warp reads
// fall into different banks. Counts common ones and lets the row offsets turn them into any of
// the products, so one kernel serves all three.
__global__ void __launch_bounds__(threads)
    popcount_tiled_kernel(prepared_bits a, prepared_bits b, detail::bit_terms terms,
                          device_matrix_view<std::int32_t> out) {
  constexpr int tile = popcount_tile;
  constexpr int each = popcount_thread_tile;
  constexpr int side = tile / each;
  constexpr int pitch = bit_chunk_words + 1;
  __shared__ std::uint32_t tile_a[tile * pitch];
  __shared__ std::uint32_t tile_b[tile * pitch];
  const int x = static_cast<int>(threadIdx.x) % side;
  const int y = static_cast<int>(threadIdx.x) / side;
  const index_t words = a.chunks * bit_chunk_words;
  const index_t first_col = static_cast<index_t>(blockIdx.x) * tile;
  for (index_t first_row = static_cast<index_t>(blockIdx.y) * tile; first_row < a.rows;
       first_row += static_cast<index_t>(gridDim.y) * tile) {
    int sums[each][each] = {};
    for (index_t chunk = 0; chunk < a.chunks; ++chunk) {
      for (int i = static_cast<int>(threadIdx.x); i < tile * bit_chunk_words; i += threads) {
        const int row = i / bit_chunk_words;
        const int word = i % bit_chunk_words;
        const index_t at = chunk * bit_chunk_words + word;
        tile_a[row * pitch + word] = a.words[(first_row + row) * words + at];
        tile_b[row * pitch + word] = b.words[(first_col + row) * words + at];
      }
      __syncthreads();
#pragma unroll 8
      for (int word = 0; word < bit_chunk_words; ++word) {
        std::uint32_t left[each];
        std::uint32_t right[each];
#pragma unroll
        for (int i = 0; i < each; ++i) {
          left[i] = tile_a[(y + i * side) * pitch + word];
          right[i] = tile_b[(x + i * side) * pitch + word];
        }
#pragma unroll
        for (int i = 0; i < each; ++i) {
#pragma unroll
          for (int j = 0; j < each; ++j) sums[i][j] += __popc(left[i] & right[j]);
        }
      }
      __syncthreads();
    }
#pragma unroll
    for (int i = 0; i < each; ++i) {
#pragma unroll
      for (int j = 0; j < each; ++j) {
        const index_t row = first_row + y + i * side;
        const index_t col = first_col + x + j * side;
        if (row >= a.rows || col >= b.rows) continue;
        out.data()[row * out.row_stride() + col] =
            terms.scale * sums[i][j] + a.row_offsets[row] + b.row_offsets[col];
      }
    }
  }
}

// Calls `launch` with the product as a compile-time constant.
template <class Launch>
void with_product(bit_product product, Launch&& launch) {
  switch (product) {
    case bit_product::xnor_dot:
      return launch.template operator()<bit_product::xnor_dot>();
    case bit_product::hamming_distance:
      return launch.template operator()<bit_product::hamming_distance>();
    case bit_product::and_count:
      return launch.template operator()<bit_product::and_count>();
  }
}

}  // namespace

void launch_binary_popcount(device_bit_matrix_view a, device_bit_matrix_view b, bit_product product,
                            device_matrix_view<std::int32_t> out, cudaStream_t stream) {
  if (out.empty()) return;
  const dim3 grid(grid_blocks(b.rows(), threads),
                  static_cast<unsigned>(a.rows() < most_grid_rows ? a.rows() : most_grid_rows));
  with_product(product, [&]<bit_product kind>() {
    popcount_kernel<kind><<<grid, threads, 0, stream>>>(a, b, out);
  });
  GPU_SIMILARITY_CHECK_LAUNCH();
}

void launch_binary_popcount_shared(device_bit_matrix_view a, device_bit_matrix_view b,
                                   bit_product product, device_matrix_view<std::int32_t> out,
                                   cudaStream_t stream) {
  if (out.empty()) return;
  const auto bytes = static_cast<std::size_t>(bit_words(a.cols())) * sizeof(std::uint32_t);
  const dim3 grid(grid_blocks(a.rows(), 1), grid_blocks(b.rows(), 32 * (threads / 32), 64));
  with_product(product, [&]<bit_product kind>() {
    popcount_shared_kernel<kind><<<grid, threads, bytes, stream>>>(a, b, out);
  });
  GPU_SIMILARITY_CHECK_LAUNCH();
}

void launch_binary_popcount_tiled(const prepared_bits& a, const prepared_bits& b,
                                  const detail::bit_terms& terms,
                                  device_matrix_view<std::int32_t> out, cudaStream_t stream) {
  if (out.empty()) return;
  const dim3 grid(grid_blocks(b.rows, popcount_tile),
                  grid_blocks(a.rows, popcount_tile, most_grid_rows));
  popcount_tiled_kernel<<<grid, threads, 0, stream>>>(a, b, terms, out);
  GPU_SIMILARITY_CHECK_LAUNCH();
}

}  // namespace gpu::kernels
