// The ladder up to register_tiled: naive, pitched and shared_tiled. One-dimensional grids, so that
// no extent meets the 65,535 blocks of the other grid axes.

#include "kernels/common/launch.cuh"
#include "kernels/matmul/kernels.hpp"

namespace gpu::kernels {

/// naive: a block of 32 x 8 threads computes 8 x 32 of C, a thread one element. No reuse but what
/// the caches give: per multiply-add one broadcast load of A and one coalesced load of B.
template <class T>
__global__ void __launch_bounds__(256) matmul_naive(matmul_problem<T> p) {
  const index_t tiles_across = ceil_div(p.n, 32);
  const index_t row = blockIdx.x / tiles_across * 8 + threadIdx.x / 32;
  const index_t col = blockIdx.x % tiles_across * 32 + threadIdx.x % 32;
  if (row >= p.m || col >= p.n) return;
  const T* a = p.a.data + row * p.a.row_step;
  const T* b = p.b.data + col * p.b.col_step;
  T sum = 0;
  for (index_t l = 0; l < p.k; ++l) sum = fma(a[l * p.a.col_step], b[l * p.b.row_step], sum);
  p.c[row * p.c_stride + col] = sum;
}

/// 16 bytes of T.
template <class T>
struct alignas(16) wide {
  static constexpr int size = 16 / sizeof(T);
  T value[size];
};
template <class T>
__device__ wide<T> load_wide(const T* from) {
  return *reinterpret_cast<const wide<T>*>(from);
}

/// pitched: as naive, but a thread computes `wide` neighbouring elements, and aligned rows let it
/// load 16 bytes at a time along whichever direction is contiguous: for float, 5 loads feed 16
/// multiply-adds where naive needs 32. A block computes 8 x (32 * wide) of C.
template <class T, bool a_flipped, bool b_flipped>
__global__ void __launch_bounds__(256) matmul_pitched(matmul_problem<T> p) {
  constexpr int width = wide<T>::size;
  const index_t tiles_across = ceil_div(p.n, 32 * width);
  const index_t row = blockIdx.x / tiles_across * 8 + threadIdx.x / 32;
  const index_t col = (blockIdx.x % tiles_across * 32 + threadIdx.x % 32) * width;
  if (row >= p.m || col >= p.n) return;

  const auto a_at = [&](index_t l) {
    return p.a.data[a_flipped ? l * p.a.col_step + row : row * p.a.row_step + l];
  };
  const auto b_at = [&](index_t l, index_t j) { return p.b.data[j * p.b.col_step + l]; };
  const index_t last_col = p.n - 1;
  T sum[width] = {};
  const index_t whole = p.k / width * width;
  for (index_t l = 0; l < whole; l += width) {
    wide<T> a;
    wide<T> b[width];  // b[x]: depth l + x, or column col + x where B is stored transposed
    if constexpr (!a_flipped) a = load_wide(p.a.data + row * p.a.row_step + l);
#pragma unroll
    for (int x = 0; x < width; ++x) {
      if constexpr (a_flipped) a.value[x] = a_at(l + x);
      if constexpr (b_flipped) {
        b[x] = load_wide(p.b.data + min(col + x, last_col) * p.b.col_step + l);
      } else {
        b[x] = load_wide(p.b.data + (l + x) * p.b.row_step + col);
      }
    }
#pragma unroll
    for (int x = 0; x < width; ++x) {
#pragma unroll
      for (int j = 0; j < width; ++j) {
        sum[j] = fma(a.value[x], b_flipped ? b[j].value[x] : b[x].value[j], sum[j]);
      }
    }
  }
  for (index_t l = whole; l < p.k; ++l) {
#pragma unroll
    for (int j = 0; j < width; ++j) {
      const T b = b_flipped ? b_at(l, min(col + j, last_col))
                            : p.b.data[l * p.b.row_step + min(col + j, last_col)];
      sum[j] = fma(a_at(l), b, sum[j]);
    }
  }
#pragma unroll
  for (int j = 0; j < width; ++j) {
    if (col + j < p.n) p.c[row * p.c_stride + col + j] = sum[j];
  }
}

/// shared_tiled: a block of 32 x 32 threads computes 32 x 32 of C, a thread one element, from
/// tiles of A and B in shared memory: each value is loaded from memory once per block instead of
/// 32 times. Loads run along whichever direction is contiguous; rows of a tile are 33 long, so
/// that storing a transposed operand by columns is free of bank conflicts, as is every read (A: one
/// broadcast, B: 32 neighbours). Two shared loads per multiply-add are its limit.
template <class T>
__global__ void __launch_bounds__(1024) matmul_shared_tiled(matmul_problem<T> p) {
  constexpr int tile = matmul_policy::shared_tile;
  __shared__ T a_tile[tile][tile + 1];
  __shared__ T b_tile[tile][tile + 1];
  const index_t tiles_across = ceil_div(p.n, tile);
  const index_t first_row = blockIdx.x / tiles_across * tile;
  const index_t first_col = blockIdx.x % tiles_across * tile;
  const int fast = threadIdx.x % tile;
  const int slow = threadIdx.x / tile;

  // Fills x[r][c] with op(X)(row + r, col + c), 0 beyond its extents.
  const auto fill = [&](T(&x)[tile][tile + 1], const matmul_operand<T>& op, index_t row,
                        index_t col, index_t rows, index_t cols) {
    const int r = op.col_step == 1 ? slow : fast;
    const int c = op.col_step == 1 ? fast : slow;
    const bool inside = row + r < rows && col + c < cols;
    x[r][c] = inside ? op.data[(row + r) * op.row_step + (col + c) * op.col_step] : T{0};
  };
  T sum = 0;
  for (index_t l = 0; l < p.k; l += tile) {
    fill(a_tile, p.a, first_row, l, p.m, p.k);
    fill(b_tile, p.b, l, first_col, p.k, p.n);
    __syncthreads();
#pragma unroll
    for (int x = 0; x < tile; ++x) sum = fma(a_tile[slow][x], b_tile[x][fast], sum);
    __syncthreads();
  }
  const index_t row = first_row + slow;
  const index_t col = first_col + fast;
  if (row < p.m && col < p.n) p.c[row * p.c_stride + col] = sum;
}

template <class T>
void launch_matmul_naive(const matmul_problem<T>& p, cudaStream_t stream) {
  const unsigned blocks = grid_blocks(ceil_div(p.m, 8) * ceil_div(p.n, 32), 1);
  matmul_naive<T><<<blocks, 256, 0, stream>>>(p);
  GPU_SIMILARITY_CHECK_LAUNCH();
}

template <class T>
void launch_matmul_pitched(const matmul_problem<T>& p, cudaStream_t stream) {
  const unsigned blocks = grid_blocks(ceil_div(p.m, 8) * ceil_div(p.n, 32 * wide<T>::size), 1);
  const bool a_flipped = p.a.col_step != 1;
  const bool b_flipped = p.b.col_step != 1;
  if (a_flipped && b_flipped) {
    matmul_pitched<T, true, true><<<blocks, 256, 0, stream>>>(p);
  } else if (a_flipped) {
    matmul_pitched<T, true, false><<<blocks, 256, 0, stream>>>(p);
  } else if (b_flipped) {
    matmul_pitched<T, false, true><<<blocks, 256, 0, stream>>>(p);
  } else {
    matmul_pitched<T, false, false><<<blocks, 256, 0, stream>>>(p);
  }
  GPU_SIMILARITY_CHECK_LAUNCH();
}

template <class T>
void launch_matmul_shared_tiled(const matmul_problem<T>& p, cudaStream_t stream) {
  constexpr int tile = matmul_policy::shared_tile;
  const unsigned blocks = grid_blocks(ceil_div(p.m, tile) * ceil_div(p.n, tile), 1);
  matmul_shared_tiled<T><<<blocks, tile * tile, 0, stream>>>(p);
  GPU_SIMILARITY_CHECK_LAUNCH();
}

#define GPU_SIMILARITY_INSTANTIATE_LADDER(T)                                   \
  template void launch_matmul_naive(const matmul_problem<T>&, cudaStream_t);   \
  template void launch_matmul_pitched(const matmul_problem<T>&, cudaStream_t); \
  template void launch_matmul_shared_tiled(const matmul_problem<T>&, cudaStream_t);
GPU_SIMILARITY_INSTANTIATE_LADDER(float)
GPU_SIMILARITY_INSTANTIATE_LADDER(double)

}  // namespace gpu::kernels
