#pragma once
// The cuBLAS variant of matmul: cublas.cpp where GPU_SIMILARITY_ENABLE_CUBLAS is ON,
// cublas_absent.cpp elsewhere.

#include <cuda_runtime_api.h>

#include <gpu/matmul.hpp>

namespace gpu::cuda {

[[nodiscard]] bool has_cublas();

/// C by cublas?gemm on `stream`. A handle is made at a thread's first call on a device, which
/// allocates and waits; later calls do not.
template <class T>
void multiply_by_cublas(device_matrix_view<const T> a, device_matrix_view<const T> b,
                        device_matrix_view<T> c, const matmul_options& options, int device,
                        cudaStream_t stream);

}  // namespace gpu::cuda
