#include "cuda/transfer/host_staging.hpp"

#include <cuda_runtime_api.h>

#include <cstdint>
#include <limits>

#include "cuda_runtime/cuda_check.hpp"

namespace gpu::cuda {
namespace {

// Asking for the free memory takes as long as a small call, and every device has this much.
constexpr std::size_t unasked_bytes = std::size_t{64} << 20;

// What the device has left, and what the library's pool keeps of it without using it.
std::size_t free_bytes() {
  std::size_t free = 0;
  std::size_t total = 0;
  GPU_SIMILARITY_CUDA_CHECK(cudaMemGetInfo(&free, &total));
  int device = 0;
  cudaMemPool_t pool = nullptr;
  std::uint64_t reserved = 0;
  std::uint64_t used = 0;
  GPU_SIMILARITY_CUDA_CHECK(cudaGetDevice(&device));
  GPU_SIMILARITY_CUDA_CHECK(cudaDeviceGetMemPool(&pool, device));
  GPU_SIMILARITY_CUDA_CHECK(
      cudaMemPoolGetAttribute(pool, cudaMemPoolAttrReservedMemCurrent, &reserved));
  GPU_SIMILARITY_CUDA_CHECK(cudaMemPoolGetAttribute(pool, cudaMemPoolAttrUsedMemCurrent, &used));
  return free + static_cast<std::size_t>(reserved - std::min(used, reserved));
}

}  // namespace

detail::staging_plan plan_host_staging(const detail::staging_job& job, const execution& exec) {
  detail::staging_room room{.limit = exec.workspace_bytes,
                            .free = std::numeric_limits<std::size_t>::max()};
  const bool is_small =
      job.rows == 0 || job.fixed_bytes + job.batch_bytes(job.rows) <= unasked_bytes;
  if (room.limit == 0 && !is_small) room.free = free_bytes();
  return detail::plan_staging(job, room);
}

void copy_rows(void* to, std::size_t to_stride, const void* from, std::size_t from_stride,
               std::size_t row_bytes, index_t rows, cudaMemcpyKind kind, cudaStream_t stream) {
  if (row_bytes == 0 || rows == 0) return;
  const auto count = static_cast<std::size_t>(rows);
  // The driver takes a pitched copy of one row, or of dense rows, more slowly.
  if (rows == 1 || (to_stride == row_bytes && from_stride == row_bytes)) {
    GPU_SIMILARITY_CUDA_CHECK(cudaMemcpyAsync(to, from, row_bytes * count, kind, stream));
  } else {
    GPU_SIMILARITY_CUDA_CHECK(
        cudaMemcpy2DAsync(to, to_stride, from, from_stride, row_bytes, count, kind, stream));
  }
}

}  // namespace gpu::cuda
