#include "cuda_runtime/memory_cache.hpp"

#include <cuda_runtime_api.h>

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstdint>
#include <optional>

#include "cuda_runtime/cuda_check.hpp"
#include "cuda_runtime/device_limits.hpp"
#include "cuda_runtime/spare_list.hpp"

namespace gpu::cuda {
namespace {

// The batches of edges of one call are 64 MiB, beside the pieces of an upload.
constexpr std::size_t most_pinned = std::size_t{192} << 20;
constexpr std::size_t least_pinned = std::size_t{4} << 10;
constexpr std::uint64_t most_pooled = std::uint64_t{12} << 30;
constexpr std::uint64_t pooled_share = 12;

// Blocks by their size.
spare_list<void*, std::size_t>& cache() {
  static auto& only = *new spare_list<void*, std::size_t>(most_pinned);
  return only;
}

std::size_t size_class(std::size_t bytes) {
  return std::bit_ceil(std::max(bytes, least_pinned));
}

// Whether the block is still page-locked memory: cudaDeviceReset frees it.
bool is_pinned(const void* memory) {
  cudaPointerAttributes attributes{};
  const cudaError_t status = cudaPointerGetAttributes(&attributes, memory);
  if (status != cudaSuccess) static_cast<void>(cudaGetLastError());
  return status == cudaSuccess && attributes.type == cudaMemoryTypeHost;
}

}  // namespace

void* take_pinned(std::size_t bytes) {
  const std::size_t wanted = size_class(bytes);
  while (const std::optional<void*> cached = cache().take(wanted)) {
    if (is_pinned(*cached)) return *cached;
  }
  void* memory = nullptr;
  const cudaError_t status = cudaMallocHost(&memory, wanted);
  if (status != cudaSuccess) {
    throw_cuda_error(status, "cudaMallocHost", __FILE__, __LINE__, wanted);
  }
  return memory;
}

void give_back_pinned(void* memory, std::size_t bytes) noexcept {
  const std::size_t size = size_class(bytes);
  if (cache().put(memory, size, size)) return;
  static_cast<void>(cudaFreeHost(memory));
}

outside_of_captures::outside_of_captures() : mode_(cudaStreamCaptureModeRelaxed) {
  GPU_SIMILARITY_CUDA_CHECK(cudaThreadExchangeStreamCaptureMode(&mode_));
}

outside_of_captures::~outside_of_captures() {
  static_cast<void>(cudaThreadExchangeStreamCaptureMode(&mode_));
}

void keep_pool_memory() {
  static std::atomic<std::uint64_t> asked{0};  // a bit a device
  int device = 0;
  cudaMemPool_t pool = nullptr;
  GPU_SIMILARITY_CUDA_CHECK(cudaGetDevice(&device));
  const std::uint64_t bit = std::uint64_t{1} << (device % 64);
  if ((asked.fetch_or(bit) & bit) != 0 && device < 64) return;
  const outside_of_captures allowed;
  GPU_SIMILARITY_CUDA_CHECK(cudaDeviceGetMemPool(&pool, device));
  std::uint64_t kept = 0;
  GPU_SIMILARITY_CUDA_CHECK(cudaMemPoolGetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &kept));
  if (kept != 0) return;
  kept = std::min<std::uint64_t>(most_pooled, current_limits().memory_bytes / pooled_share);
  GPU_SIMILARITY_CUDA_CHECK(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &kept));
}

}  // namespace gpu::cuda
