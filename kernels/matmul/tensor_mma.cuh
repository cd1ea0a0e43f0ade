#pragma once
// The product of packed operands with the warp products of compute capability 8.0 and later.

#include <cuda_pipeline_primitives.h>

#include "kernels/matmul/tensor_common.cuh"

namespace gpu::kernels {

struct mma_layout {
  static constexpr int rows = 128;
  static constexpr int cols = 128;
  static constexpr int threads = 256;
  static constexpr int stages = 3;
  static constexpr int warp_rows = 64;
  static constexpr int warp_cols = 32;
  static constexpr int operand_bytes = 2 * static_cast<int>(packed_operand::cell_bytes);
  static constexpr int stage_bytes = 2 * operand_bytes;
  static constexpr std::size_t shared_bytes = static_cast<std::size_t>(stages) * stage_bytes;
};

#if __CUDA_ARCH__ >= 800

/// Four 8 x 8 pieces of halves, piece i from the rows that threads 8 i to 8 i + 7 point to.
__device__ inline void load_pieces(unsigned (&to)[4], std::uint32_t row) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3])
               : "r"(row));
}

/// d += a b for 16 x 8 x 16.
__device__ inline void warp_product(float (&d)[4], const unsigned (&a)[4], unsigned b0,
                                    unsigned b1) {
  asm volatile(
      "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 "
      "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
      : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}

/// Address of 16-byte word `word` of row `row` of a packed operand in shared memory.
__device__ inline std::uint32_t packed_word(std::uint32_t operand, int row, int word) {
  return operand + static_cast<std::uint32_t>(row * 128 + ((word ^ (row % 8)) * 16));
}

/// part += the product of one stage: 32 values of k, in two steps of 16.
__device__ inline void multiply_stage(float (&part)[4][4][4], std::uint32_t a_tile,
                                      std::uint32_t b_tile) {
  const int lane = static_cast<int>(threadIdx.x) % 32;
#pragma unroll
  for (int step = 0; step < 2; ++step) {
    unsigned b[2][2][4];  // [high, low][pair of 8 columns]
#pragma unroll
    for (int half = 0; half < 2; ++half) {
#pragma unroll
      for (int pair = 0; pair < 2; ++pair) {
        load_pieces(b[half][pair], packed_word(b_tile, pair * 16 + lane / 16 * 8 + lane % 8,
                                               half * 4 + step * 2 + lane / 8 % 2));
      }
    }
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      unsigned a[2][4];
#pragma unroll
      for (int half = 0; half < 2; ++half) {
        load_pieces(a[half],
                    packed_word(a_tile, i * 16 + lane % 16, half * 4 + step * 2 + lane / 16));
      }
#pragma unroll
      for (int j = 0; j < 4; ++j) {
        const int pair = j / 2;
        const int x = j % 2 * 2;
        warp_product(part[i][j], a[1], b[0][pair][x], b[0][pair][x + 1]);
        warp_product(part[i][j], a[0], b[1][pair][x], b[1][pair][x + 1]);
        warp_product(part[i][j], a[0], b[0][pair][x], b[0][pair][x + 1]);
      }
    }
  }
}

/// Copies one operand's two cells of a stage, 16 bytes at a time.
__device__ inline void fetch_operand(unsigned char* to, const std::byte* from) {
#pragma unroll
  for (int e = static_cast<int>(threadIdx.x) * 16; e < mma_layout::operand_bytes;
       e += mma_layout::threads * 16) {
    __pipeline_memcpy_async(to + e, from + e, 16);
  }
}

/// Writes a warp's 64 x 32 sums to C.
__device__ inline void store_warp_sums(const tensor_problem& p, const float (&sum)[4][4][4],
                                       index_t first_row, index_t first_col) {
  const int lane = static_cast<int>(threadIdx.x) % 32;
  const bool aligned = pairs_are_aligned(p);
#pragma unroll
  for (int i = 0; i < 8; ++i) {
    const index_t row = first_row + i / 2 * 16 + lane / 4 + i % 2 * 8;
    if (row >= p.m) continue;
    const int row_shift = tensor_shift(p.a_peaks[row]);
#pragma unroll
    for (int j = 0; j < 4; ++j) {
      const index_t col = first_col + j * 8 + lane % 4 * 2;
      const float* pair = &sum[i / 2][j][i % 2 * 2];
      store_pair(p, row, col, unscale(pair[0], row_shift, tensor_shift(p.b_peaks[col])),
                 unscale(pair[1], row_shift, tensor_shift(p.b_peaks[col + 1])), aligned);
    }
  }
}

#endif

/// A block of 8 warps computes 128 x 128 of C, a warp 64 x 32, from a ring of stages of 32 values
/// of k, high and low halves. As in the warpgroup kernel, a product runs for `run` stages and is
/// then added to the sums with one rounding.
template <int run>
__global__ void __launch_bounds__(mma_layout::threads)
    tensor_multiply_mma(const __grid_constant__ tensor_problem p) {
#if __CUDA_ARCH__ >= 800
  using layout = mma_layout;
  if (*p.flag != 0) return;
  extern __shared__ __align__(128) unsigned char shared_memory[];
  const index_t tiles_across = ceil_div(p.n, layout::cols);
  const index_t first_row = blockIdx.x / tiles_across * layout::rows;
  const index_t first_col = blockIdx.x % tiles_across * layout::cols;
  const auto cell = static_cast<index_t>(packed_operand::cell_bytes);
  const std::byte* a = p.a + first_row / packed_operand::cell_rows * cell;
  const std::byte* b = p.b + first_col / packed_operand::cell_rows * cell;
  const auto fetch = [&](index_t depth) {
    if (depth < p.a_shape.depths) {
      unsigned char* to = shared_memory + depth % layout::stages * layout::stage_bytes;
      fetch_operand(to, a + depth * p.a_shape.panels * cell);
      fetch_operand(to + layout::operand_bytes, b + depth * p.b_shape.panels * cell);
    }
    __pipeline_commit();
  };
  const int warp = static_cast<int>(threadIdx.x) / 32;
  const int warp_row = warp / 4 * layout::warp_rows;
  const int warp_col = warp % 4 * layout::warp_cols;
  const auto base = static_cast<std::uint32_t>(__cvta_generic_to_shared(shared_memory));

  float sum[4][4][4] = {};
  float part[4][4][4] = {};
#pragma unroll
  for (int s = 0; s < layout::stages - 1; ++s) fetch(s);
  for (index_t depth = 0; depth < p.a_shape.depths; ++depth) {
    __pipeline_wait_prior(layout::stages - 2);
    __syncthreads();
    fetch(depth + layout::stages - 1);
    const auto stage =
        base + static_cast<std::uint32_t>(depth % layout::stages) * layout::stage_bytes;
    multiply_stage(part, stage + static_cast<std::uint32_t>(warp_row) * 128,
                   stage + layout::operand_bytes + static_cast<std::uint32_t>(warp_col) * 128);
    if (depth % run == run - 1 || depth + 1 == p.a_shape.depths) {
#pragma unroll
      for (int i = 0; i < 64; ++i) {
        sum[i / 16][i / 4 % 4][i % 4] += part[i / 16][i / 4 % 4][i % 4];
        part[i / 16][i / 4 % 4][i % 4] = 0;
      }
    }
  }
  store_warp_sums(p, sum, first_row + warp_row, first_col + warp_col);
#endif
}

inline void launch_tensor_mma(const tensor_problem& p, cudaStream_t stream) {
  const auto kernel = tensor_multiply_mma<matmul_policy::tensor_run>;
  allow_shared_memory(kernel, mma_layout::shared_bytes);
  const unsigned blocks =
      grid_blocks(ceil_div(p.m, mma_layout::rows) * ceil_div(p.n, mma_layout::cols), 1);
  kernel<<<blocks, mma_layout::threads, mma_layout::shared_bytes, stream>>>(p);
  GPU_SIMILARITY_CHECK_LAUNCH();
}

}  // namespace gpu::kernels
