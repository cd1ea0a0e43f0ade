// The first NaN of a row.

#include "base/element_types.hpp"
#include "kernels/common/launch.cuh"
#include "kernels/pairs/on_device/kernels.hpp"

namespace gpu::kernels {
namespace {

constexpr int threads = 256;

// One block.
template <class T>
__global__ void first_nan(const T* row, index_t cols, index_t* column) {
  __shared__ unsigned long long first;
  if (threadIdx.x == 0) first = static_cast<unsigned long long>(cols);
  __syncthreads();
  for (index_t k = threadIdx.x; k < cols; k += threads) {
    if (row[k] == row[k]) continue;
    atomicMin(&first, static_cast<unsigned long long>(k));
    break;
  }
  __syncthreads();
  if (threadIdx.x == 0) *column = static_cast<index_t>(first);
}

}  // namespace

template <class T>
void launch_first_nan(device_matrix_view<const T> row, index_t* column, cudaStream_t stream) {
  first_nan<T><<<1, threads, 0, stream>>>(row.data(), row.cols(), column);
  GPU_SIMILARITY_CHECK_LAUNCH();
}

#define GPU_SIMILARITY_INSTANTIATE(T) \
  template void launch_first_nan<T>(device_matrix_view<const T>, index_t*, cudaStream_t);

GPU_SIMILARITY_FOR_EACH_ELEMENT_TYPE(GPU_SIMILARITY_INSTANTIATE)

}  // namespace gpu::kernels
