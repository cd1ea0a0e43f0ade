// Some columns of a table as a table of doubles.

#include "base/element_types.hpp"
#include "kernels/common/launch.cuh"
#include "kernels/pairs/differences/kernels.hpp"

namespace gpu::kernels {
namespace {

constexpr int threads = 256;

// A thread writes one element, or several that lie a grid apart.
template <class T>
__global__ void __launch_bounds__(threads)
    gather_columns_kernel(const T* table, index_t row_stride, const index_t* columns, index_t count,
                          index_t elements, double* out) {
  const index_t step = static_cast<index_t>(gridDim.x) * threads;
  const index_t first = static_cast<index_t>(blockIdx.x) * threads + threadIdx.x;
  for (index_t at = first; at < elements; at += step) {
    out[at] = static_cast<double>(table[at / count * row_stride + columns[at % count]]);
  }
}

}  // namespace

template <class T>
void launch_gather_columns(device_matrix_view<const T> table, const index_t* columns, index_t count,
                           double* out, cudaStream_t stream) {
  const index_t elements = table.rows() * count;
  if (elements == 0) return;
  gather_columns_kernel<T><<<grid_blocks(elements, threads), threads, 0, stream>>>(
      table.data(), table.row_stride(), columns, count, elements, out);
  GPU_SIMILARITY_CHECK_LAUNCH();
}

#define GPU_SIMILARITY_INSTANTIATE(T)                                                          \
  template void launch_gather_columns<T>(device_matrix_view<const T>, const index_t*, index_t, \
                                         double*, cudaStream_t);

GPU_SIMILARITY_FOR_EACH_ELEMENT_TYPE(GPU_SIMILARITY_INSTANTIATE)

}  // namespace gpu::kernels
