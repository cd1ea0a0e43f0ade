// 1-bit tensor cores by mma.sync (sm_80): popcount(a & b), which is one native instruction up to
// sm_90; the XOR form that sm_75 has is emulated there at a seventh of the speed.
//
// A block of 8 warps computes 128 x 128 results, a warp 64 x 32 as 4 x 4 tiles of 16 x 8. Chunks
// of 128 bytes a row come by cp.async, two stages, with a pitch of 144 bytes: the eight rows and
// four words that the lanes of a fragment load touch fall into different banks.
// Shared memory 72 KiB; 2 blocks a multiprocessor; 64 sums a thread.

#include "kernels/binary_matmul/kernels.hpp"
#include "kernels/common/launch.cuh"

namespace gpu::kernels {
namespace {

constexpr int threads = 256;
constexpr int tile = tensor_tile;
constexpr int pitch = bit_chunk_words + 4;  // words
constexpr int stage_words = 2 * tile * pitch;
constexpr std::size_t shared_bytes = 2 * stage_words * sizeof(std::uint32_t);
constexpr index_t most_grid_rows = 65535;

#if __CUDA_ARCH__ >= 800

__device__ __forceinline__ void copy_async(std::uint32_t* destination,
                                           const std::uint32_t* source) {
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(
                   static_cast<unsigned>(__cvta_generic_to_shared(destination))),
               "l"(source));
}

__device__ __forceinline__ void load_stage(std::uint32_t* shared, const prepared_bits& a,
                                           const prepared_bits& b, index_t row, index_t col,
                                           index_t chunk) {
  const index_t words = a.chunks * bit_chunk_words;
  for (int i = static_cast<int>(threadIdx.x); i < tile * (bit_chunk_words / 4); i += threads) {
    const int r = i / (bit_chunk_words / 4);
    const int w = i % (bit_chunk_words / 4) * 4;
    const index_t at = chunk * bit_chunk_words + w;
    copy_async(shared + r * pitch + w, a.words + (row + r) * words + at);
    copy_async(shared + (tile + r) * pitch + w, b.words + (col + r) * words + at);
  }
  asm volatile("cp.async.commit_group;");
}

__device__ __forceinline__ void multiply(int (&d)[4], const unsigned (&a)[4],
                                         const unsigned (&b)[2]) {
  asm volatile(
      "mma.sync.aligned.m16n8k256.row.col.s32.b1.b1.s32.and.popc {%0, %1, %2, %3}, "
      "{%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
      : "+r"(d[0]), "+r"(d[1]), "+r"(d[2]), "+r"(d[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}

using warp_sums = int[4][4][4];  // 4 x 4 tiles of 16 x 8, four sums a lane

// Adds the products of a stage; `left` and `right` are the lane's first rows there.
__device__ __forceinline__ void multiply_stage(warp_sums& sums, const std::uint32_t* left,
                                               const std::uint32_t* right) {
  const int lane = static_cast<int>(threadIdx.x) % 32;
#pragma unroll
  for (int word = lane % 4; word < bit_chunk_words; word += 8) {
    unsigned x[4][4];
    unsigned y[4][2];
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      x[i][0] = left[i * 16 * pitch + word];
      x[i][1] = left[(i * 16 + 8) * pitch + word];
      x[i][2] = left[i * 16 * pitch + word + 4];
      x[i][3] = left[(i * 16 + 8) * pitch + word + 4];
      y[i][0] = right[i * 8 * pitch + word];
      y[i][1] = right[i * 8 * pitch + word + 4];
    }
#pragma unroll
    for (int i = 0; i < 4; ++i) {
#pragma unroll
      for (int j = 0; j < 4; ++j) multiply(sums[i][j], x[i], y[j]);
    }
  }
}

// Writes the warp's results from row and column `first_row`, `first_col` on.
__device__ __forceinline__ void store_results(const warp_sums& sums, const prepared_bits& a,
                                              const prepared_bits& b, int scale, index_t first_row,
                                              index_t first_col,
                                              const device_matrix_view<std::int32_t>& out) {
  const int lane = static_cast<int>(threadIdx.x) % 32;
#pragma unroll
  for (int i = 0; i < 4; ++i) {
#pragma unroll
    for (int j = 0; j < 4; ++j) {
#pragma unroll
      for (int e = 0; e < 4; ++e) {
        const index_t row = first_row + i * 16 + lane / 4 + e / 2 * 8;
        const index_t col = first_col + j * 8 + lane % 4 * 2 + e % 2;
        if (row >= a.rows || col >= b.rows) continue;
        out.data()[row * out.row_stride() + col] =
            scale * sums[i][j][e] + a.row_offsets[row] + b.row_offsets[col];
      }
    }
  }
}

#endif

__global__ void __launch_bounds__(threads, 2)
    binary_tensor_kernel(prepared_bits a, prepared_bits b, detail::bit_terms terms,
                         device_matrix_view<std::int32_t> out) {
#if __CUDA_ARCH__ >= 800
  extern __shared__ __align__(16) std::uint32_t shared[];
  const int lane = static_cast<int>(threadIdx.x) % 32;
  const int warp = static_cast<int>(threadIdx.x) / 32;
  const int warp_row = warp / 4 * 64;
  const int warp_col = warp % 4 * 32;
  const index_t first_col = static_cast<index_t>(blockIdx.x) * tile;
  for (index_t first_row = static_cast<index_t>(blockIdx.y) * tile; first_row < a.rows;
       first_row += static_cast<index_t>(gridDim.y) * tile) {
    warp_sums sums = {};
    load_stage(shared, a, b, first_row, first_col, 0);
    for (index_t chunk = 0; chunk < a.chunks; ++chunk) {
      if (chunk + 1 < a.chunks) {
        load_stage(shared + (chunk + 1) % 2 * stage_words, a, b, first_row, first_col, chunk + 1);
        asm volatile("cp.async.wait_group 1;");
      } else {
        asm volatile("cp.async.wait_group 0;");
      }
      __syncthreads();
      const std::uint32_t* left = shared + chunk % 2 * stage_words + (warp_row + lane / 4) * pitch;
      const std::uint32_t* right =
          shared + chunk % 2 * stage_words + (tile + warp_col + lane / 4) * pitch;
      multiply_stage(sums, left, right);
      __syncthreads();
    }
    store_results(sums, a, b, terms.scale, first_row + warp_row, first_col + warp_col, out);
  }
#endif
}

}  // namespace

void launch_binary_tensor(const prepared_bits& a, const prepared_bits& b,
                          const detail::bit_terms& terms, device_matrix_view<std::int32_t> out,
                          cudaStream_t stream) {
  if (out.empty()) return;
  const dim3 grid(grid_blocks(b.rows, tile), grid_blocks(a.rows, tile, most_grid_rows));
  allow_shared_memory(binary_tensor_kernel, shared_bytes);
  binary_tensor_kernel<<<grid, threads, shared_bytes, stream>>>(a, b, terms, out);
  GPU_SIMILARITY_CHECK_LAUNCH();
}

}  // namespace gpu::kernels
