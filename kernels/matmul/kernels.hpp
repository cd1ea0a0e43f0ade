#pragma once
// Host-callable launches of the matrix multiply kernels. Asynchronous on `stream`, no allocation.

#include <cuda_runtime_api.h>

#include <cstddef>

#include <gpu/index.hpp>

#include "plan/matmul_policy.hpp"

namespace gpu::kernels {

/// op(X): element (row, col) is data[row * row_step + col * col_step]; one of the steps is 1.
template <class T>
struct matmul_operand {
  const T* data = nullptr;
  index_t row_step = 0;
  index_t col_step = 0;
};

/// C = A B with A [m, k], B [k, n] and the rows of C c_stride apart; m, n >= 1, k >= 0.
template <class T>
struct matmul_problem {
  matmul_operand<T> a;
  matmul_operand<T> b;
  T* c = nullptr;
  index_t c_stride = 0;
  index_t m = 0;
  index_t n = 0;
  index_t k = 0;
};

template <class T>
void launch_matmul_naive(const matmul_problem<T>& problem, cudaStream_t stream);

/// Rows of A and B as stored start at multiples of 16 bytes and may be read up to the next one.
template <class T>
void launch_matmul_pitched(const matmul_problem<T>& problem, cudaStream_t stream);

template <class T>
void launch_matmul_shared_tiled(const matmul_problem<T>& problem, cudaStream_t stream);

/// `partial`: splits * m * n elements where splits > 1. `run_if`: null, or a device word; the
/// kernels do nothing where it is 0.
template <class T>
void launch_matmul_register_tiled(const matmul_problem<T>& problem, matmul_policy::tile_name tile,
                                  index_t splits, T* partial, const unsigned* run_if,
                                  cudaStream_t stream);

/// `tile`: large, medium or small of matmul_policy::tensor_double_tiles. Compute capability 8.0 and
/// later.
void launch_matmul_tensor_double(const matmul_problem<double>& problem,
                                 matmul_policy::tile_name tile, cudaStream_t stream);

/// Packs both operands into `workspace` (plan_tensor_workspace), multiplies on tensor cores, and
/// runs register_tiled with `fallback` instead where an operand holds an Inf or NaN: the device
/// decides. `wgmma_columns`: 128 or 192, the width of a tile of warpgroup products (compute
/// capability 9.0), or 0 for warp products (8.0 and later). k >= 1.
void launch_matmul_tensor(const matmul_problem<float>& problem, std::byte* workspace,
                          int wgmma_columns, matmul_policy::tile_name fallback,
                          cudaStream_t stream);

/// c = alpha product + beta c, rows of both as far apart as said; `product` may be `c` where beta
/// is 0. Without a product (null): c = beta c. c is not read where beta is 0.
template <class T>
void launch_matmul_combine(const T* product, index_t product_stride, T alpha, T beta, T* c,
                           index_t c_stride, index_t m, index_t n, cudaStream_t stream);

}  // namespace gpu::kernels
