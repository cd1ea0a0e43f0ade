#pragma once
// Turns a failed CUDA call into an exception that names the call, the file and the line.

#include <cuda_runtime_api.h>

#include <cstddef>

namespace gpu::cuda {

/// Throws gpu::out_of_memory for cudaErrorMemoryAllocation, else gpu::cuda_error. Clears the
/// thread's last error first, so that the next call does not report a failure that was caught.
[[noreturn]] void throw_cuda_error(cudaError_t status, const char* call, const char* file, int line,
                                   std::size_t requested_bytes = 0);

}  // namespace gpu::cuda

/// Every CUDA call and, as GPU_SIMILARITY_CUDA_CHECK(cudaGetLastError()), every launch goes
/// through this.
#define GPU_SIMILARITY_CUDA_CHECK(call)                                                \
  do {                                                                                 \
    const cudaError_t gpu_similarity_status = (call);                                  \
    if (gpu_similarity_status != cudaSuccess)                                          \
      ::gpu::cuda::throw_cuda_error(gpu_similarity_status, #call, __FILE__, __LINE__); \
  } while (false)
