// Orders finished candidates by (row, column): CUB's radix sort.

#include <cub/device/device_radix_sort.cuh>

#include "common/launch.cuh"
#include "correlation/correlation_kernels.hpp"

namespace gpu::kernels {

std::size_t sort_scratch_bytes(std::uint64_t count) {
  std::size_t bytes = 0;
  GPU_SIMILARITY_CUDA_CHECK(cub::DeviceRadixSort::SortPairs(
      nullptr, bytes, static_cast<const std::uint64_t*>(nullptr),
      static_cast<std::uint64_t*>(nullptr), static_cast<const std::uint64_t*>(nullptr),
      static_cast<std::uint64_t*>(nullptr), count));
  return bytes;
}

void sort_pairs_by_key(void* scratch, std::size_t scratch_bytes, const std::uint64_t* keys,
                       std::uint64_t* keys_out, const std::uint64_t* values,
                       std::uint64_t* values_out, std::uint64_t count, cudaStream_t stream) {
  if (count == 0) return;
  GPU_SIMILARITY_CUDA_CHECK(cub::DeviceRadixSort::SortPairs(
      scratch, scratch_bytes, keys, keys_out, values, values_out, count, 0, 64, stream));
}

}  // namespace gpu::kernels
