// Orders edges by (row, column): CUB's radix sort.

#include <cub/device/device_radix_sort.cuh>

#include "kernels/common/launch.cuh"
#include "kernels/tanimoto/kernels.hpp"

namespace gpu::kernels {

std::size_t tanimoto_sort_bytes(std::uint64_t count) {
  cub::DoubleBuffer<std::uint64_t> keys;
  cub::DoubleBuffer<std::uint32_t> values;
  std::size_t bytes = 0;
  GPU_SIMILARITY_CUDA_CHECK(cub::DeviceRadixSort::SortPairs(nullptr, bytes, keys, values, count));
  return bytes;
}

int sort_tanimoto_edges(void* scratch, std::size_t scratch_bytes, std::uint64_t* const (&keys)[2],
                        std::uint32_t* const (&common)[2], std::uint64_t count, int bits,
                        cudaStream_t stream) {
  if (count == 0) return 0;
  cub::DoubleBuffer<std::uint64_t> key_buffers(keys[0], keys[1]);
  cub::DoubleBuffer<std::uint32_t> value_buffers(common[0], common[1]);
  GPU_SIMILARITY_CUDA_CHECK(cub::DeviceRadixSort::SortPairs(scratch, scratch_bytes, key_buffers,
                                                            value_buffers, count, 0, bits, stream));
  // Both were sorted by the same passes.
  return key_buffers.selector;
}

}  // namespace gpu::kernels
