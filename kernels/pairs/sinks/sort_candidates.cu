// Orders finished candidates by (row, column): CUB's radix sort.

#include <cub/device/device_radix_sort.cuh>

#include "kernels/common/launch.cuh"
#include "kernels/pairs/sinks/kernels.hpp"

namespace gpu::kernels {

std::size_t sort_scratch_bytes(std::uint64_t count) {
  cub::DoubleBuffer<std::uint64_t> nothing;
  std::size_t bytes = 0;
  GPU_SIMILARITY_CUDA_CHECK(
      cub::DeviceRadixSort::SortPairs(nullptr, bytes, nothing, nothing, count));
  return bytes;
}

int sort_candidates(void* scratch, std::size_t scratch_bytes, std::uint64_t* const (&keys)[2],
                    std::uint64_t* const (&values)[2], std::uint64_t count, int bits,
                    cudaStream_t stream) {
  if (count == 0) return 0;
  cub::DoubleBuffer<std::uint64_t> key_buffers(keys[0], keys[1]);
  cub::DoubleBuffer<std::uint64_t> value_buffers(values[0], values[1]);
  GPU_SIMILARITY_CUDA_CHECK(cub::DeviceRadixSort::SortPairs(scratch, scratch_bytes, key_buffers,
                                                            value_buffers, count, 0, bits, stream));
  return key_buffers.selector;
}

}  // namespace gpu::kernels
