#pragma once
// Scratch memory of launches that sort row numbers by 32-bit keys. Host code.

#include <cstddef>
#include <cstdint>
#include <cub/device/device_radix_sort.cuh>

#include <gpu/index.hpp>

#include "cuda_runtime/arena.hpp"
#include "cuda_runtime/cuda_check.hpp"

namespace gpu::kernels {

/// Temporary memory of cub::DeviceRadixSort::SortPairs for `rows` keys and row numbers of 32 bits.
inline std::size_t row_sort_bytes(index_t rows) {
  std::size_t bytes = 0;
  GPU_SIMILARITY_CUDA_CHECK(cub::DeviceRadixSort::SortPairs(
      nullptr, bytes, static_cast<const std::uint32_t*>(nullptr),
      static_cast<std::uint32_t*>(nullptr), static_cast<const std::uint32_t*>(nullptr),
      static_cast<std::uint32_t*>(nullptr), rows));
  return bytes;
}

struct row_sort_scratch {
  std::uint32_t* keys;
  std::uint32_t* sorted_keys;
  std::uint32_t* numbers;
  std::size_t cub_bytes;
  std::byte* cub;

  row_sort_scratch(cuda::arena& memory, index_t rows)
      : keys(memory.take<std::uint32_t>(rows)),
        sorted_keys(memory.take<std::uint32_t>(rows)),
        numbers(memory.take<std::uint32_t>(rows)),
        cub_bytes(row_sort_bytes(rows)),
        cub(memory.take<std::byte>(cub_bytes)) {}

  static std::size_t bytes(index_t rows) {
    return cuda::bytes_taken([&](cuda::arena& memory) { return row_sort_scratch(memory, rows); });
  }
};

}  // namespace gpu::kernels
