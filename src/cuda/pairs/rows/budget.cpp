#include "cuda/pairs/rows/budget.hpp"

#include <cuda_runtime_api.h>
#include <fmt/format.h>

#include <gpu/error.hpp>

#include "cuda_runtime/cuda_check.hpp"

namespace gpu::cuda {

pair_budget::pair_budget(std::size_t limit) : limit_(limit) {
  if (limit_ != 0) return;
  std::size_t free_bytes = 0;
  std::size_t total_bytes = 0;
  GPU_SIMILARITY_CUDA_CHECK(cudaMemGetInfo(&free_bytes, &total_bytes));
  limit_ = free_bytes / 10 * 9;
}

void pair_budget::require(std::size_t bytes, const char* what) const {
  if (bytes <= left()) return;
  throw out_of_memory(
      fmt::format("execution.workspace_bytes: {} need {} bytes of device memory, {} of {} are left",
                  what, bytes, left(), limit_),
      used_ + bytes);
}

void pair_budget::take(std::size_t bytes, const char* what) {
  require(bytes, what);
  used_ += bytes;
}

}  // namespace gpu::cuda
