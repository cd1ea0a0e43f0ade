#pragma once
// Launches that may start before the preceding kernel has ended (programmatic dependent launch,
// sm_90 on): what a kernel does before it waits overlaps with the end of the kernel before it.

#include <cuda_runtime.h>

#include <cstddef>
#include <type_traits>

#include "cuda_runtime/cuda_check.hpp"
#include "cuda_runtime/device_code.hpp"

namespace gpu::kernels {

/// Returns once the preceding kernel has ended and its writes can be read. A kernel launched by
/// launch_dependent calls it before it uses anything that the preceding kernel writes.
__device__ inline void wait_for_previous_kernel() {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
}

/// Lets a dependent kernel start once all blocks have come here or ended.
__device__ inline void let_next_kernel_start() {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.launch_dependents;");
#endif
}

/// Whether a kernel may start early on the current device: where kernels were compiled without the
/// wait, none may.
inline bool has_dependent_launch() {
  return cuda::current_code().capability >= 90;
}

/// Launches a kernel that calls wait_for_previous_kernel().
template <class... Parameters>
void launch_dependent(void (*kernel)(Parameters...), dim3 grid, dim3 block,
                      std::size_t shared_bytes, cudaStream_t stream,
                      std::type_identity_t<Parameters>... arguments) {
  cudaLaunchAttribute attribute{};
  attribute.id = cudaLaunchAttributeProgrammaticStreamSerialization;
  attribute.val.programmaticStreamSerializationAllowed = 1;
  cudaLaunchConfig_t config{};
  config.gridDim = grid;
  config.blockDim = block;
  config.dynamicSmemBytes = shared_bytes;
  config.stream = stream;
  config.attrs = &attribute;
  config.numAttrs = has_dependent_launch() ? 1 : 0;
  GPU_SIMILARITY_CUDA_CHECK(cudaLaunchKernelEx(&config, kernel, arguments...));
}

}  // namespace gpu::kernels
