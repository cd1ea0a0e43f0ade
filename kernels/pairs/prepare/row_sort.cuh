#pragma once
// Temporary device memory of launches that sort row numbers by 32-bit keys: columns of one
// allocation, each aligned, and CUB's own at the end. Host code.

#include <cstddef>
#include <cstdint>
#include <cub/device/device_radix_sort.cuh>

#include <gpu/index.hpp>

#include "cuda_runtime/cuda_check.hpp"

namespace gpu::kernels {

/// Where the next column may begin.
constexpr std::size_t aligned_column(std::size_t bytes) {
  return (bytes + 255) / 256 * 256;
}

/// Temporary memory of cub::DeviceRadixSort::SortPairs for `rows` keys and row numbers of 32 bits.
inline std::size_t row_sort_bytes(index_t rows) {
  std::size_t bytes = 0;
  GPU_SIMILARITY_CUDA_CHECK(cub::DeviceRadixSort::SortPairs(
      nullptr, bytes, static_cast<const std::uint32_t*>(nullptr),
      static_cast<std::uint32_t*>(nullptr), static_cast<const std::uint32_t*>(nullptr),
      static_cast<std::uint32_t*>(nullptr), rows));
  return bytes;
}

}  // namespace gpu::kernels
