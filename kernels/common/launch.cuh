#pragma once
// Grid arithmetic and launch checks, shared by every kernel.

#include <cuda_runtime.h>

#include <cstdint>

#include <gpu/index.hpp>

#include "base/round_up.hpp"
#include "cuda_runtime/cuda_check.hpp"
#include "cuda_runtime/device_limits.hpp"

namespace gpu::kernels {

/// Throws where the launch just made was refused.
#define GPU_SIMILARITY_CHECK_LAUNCH() GPU_SIMILARITY_CUDA_CHECK(cudaGetLastError())

using cuda::allow_shared_memory;

/// Blocks of a grid-stride launch over `work` items: enough to fill the device, at most `most`.
inline unsigned grid_blocks(index_t work, index_t items_per_block, index_t most = 0x7fffffff) {
  const index_t blocks = ceil_div(work, items_per_block);
  return static_cast<unsigned>(blocks < 1 ? 1 : (blocks < most ? blocks : most));
}

}  // namespace gpu::kernels
