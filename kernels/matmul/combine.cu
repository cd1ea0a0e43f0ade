// C = alpha P + beta C, element by element, once the product P is known: one pass over memory, so
// that the product kernels need no registers for alpha and beta.
#include "kernels/common/launch.cuh"
#include "kernels/matmul/kernels.hpp"

namespace gpu::kernels {
namespace {

constexpr int combine_threads = 256;

template <class T>
__device__ T combined(const T* product, T alpha, T beta, const T* c) {
  if (product == nullptr) return beta == T{0} ? T{0} : beta * *c;
  if (beta == T{0}) return alpha * *product;
  return alpha * *product + beta * *c;
}

template <class T>
__global__ void __launch_bounds__(combine_threads)
    combine_kernel(const T* product, index_t product_stride, T alpha, T beta, T* c,
                   index_t c_stride, index_t m, index_t n, index_t pieces) {
  for (index_t item = blockIdx.x; item < m * pieces; item += gridDim.x) {
    const index_t row = item / pieces;
    const index_t col = item % pieces * combine_threads + threadIdx.x;
    if (col >= n) continue;
    const T* const from = product == nullptr ? nullptr : product + row * product_stride + col;
    T* const to = c + row * c_stride + col;
    *to = combined(from, alpha, beta, to);
  }
}

}  // namespace

template <class T>
void launch_matmul_combine(const T* product, index_t product_stride, T alpha, T beta, T* c,
                           index_t c_stride, index_t m, index_t n, cudaStream_t stream) {
  const index_t pieces = ceil_div(n, combine_threads);
  combine_kernel<<<grid_blocks(m * pieces, 1), combine_threads, 0, stream>>>(
      product, product_stride, alpha, beta, c, c_stride, m, n, pieces);
  GPU_SIMILARITY_CHECK_LAUNCH();
}

template void launch_matmul_combine(const float*, index_t, float, float, float*, index_t, index_t,
                                    index_t, cudaStream_t);
template void launch_matmul_combine(const double*, index_t, double, double, double*, index_t,
                                    index_t, index_t, cudaStream_t);

}  // namespace gpu::kernels
