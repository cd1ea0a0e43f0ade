#pragma once
// The bodies of sort.hpp.

#include <thrust/iterator/counting_iterator.h>
#include <thrust/iterator/transform_iterator.h>
#include <cub/device/device_radix_sort.cuh>
#include <cub/device/device_segmented_sort.cuh>

#include "kernels/common/launch.cuh"
#include "kernels/top_k/sort.hpp"

namespace gpu::kernels::select {

/// Rows longer than this are sorted one by one, by all of the device.
inline constexpr index_t segmented_most_cols = 65536;

/// Start of row i, as an iterator over i.
struct row_start {
  index_t cols;
  __host__ __device__ index_t operator()(index_t row) const { return row * cols; }
};

template <class Composite>
cudaError_t segmented_sort(void* workspace, std::size_t& bytes, const Composite* in, Composite* out,
                           index_t rows, index_t cols, cudaStream_t stream) {
  const auto starts =
      thrust::make_transform_iterator(thrust::counting_iterator<index_t>(0), row_start{cols});
  return cub::DeviceSegmentedSort::SortKeysDescending(workspace, bytes, in, out, rows * cols, rows,
                                                      starts, starts + 1, stream);
}

template <class Composite>
cudaError_t single_sort(void* workspace, std::size_t& bytes, const Composite* in, Composite* out,
                        index_t cols, int first_bit, cudaStream_t stream) {
  return cub::DeviceRadixSort::SortKeysDescending(workspace, bytes, in, out, cols, first_bit,
                                                  static_cast<int>(8 * sizeof(Composite)), stream);
}

template <class Composite>
std::size_t sort_composites_workspace(index_t rows, index_t cols) {
  std::size_t bytes = 0;
  const Composite* in = nullptr;
  Composite* out = nullptr;
  if (rows > 1 && cols <= segmented_most_cols) {
    GPU_SIMILARITY_CUDA_CHECK(segmented_sort(nullptr, bytes, in, out, rows, cols, nullptr));
  } else {
    GPU_SIMILARITY_CUDA_CHECK(single_sort(nullptr, bytes, in, out, cols, 0, nullptr));
  }
  return bytes;
}

template <class Composite>
void sort_composites(const Composite* in, Composite* out, index_t rows, index_t cols, int first_bit,
                     void* workspace, std::size_t workspace_bytes, cudaStream_t stream) {
  if (rows > 1 && cols <= segmented_most_cols) {
    GPU_SIMILARITY_CUDA_CHECK(
        segmented_sort(workspace, workspace_bytes, in, out, rows, cols, stream));
    return;
  }
  for (index_t i = 0; i < rows; ++i) {
    GPU_SIMILARITY_CUDA_CHECK(single_sort(workspace, workspace_bytes, in + i * cols, out + i * cols,
                                          cols, first_bit, stream));
  }
}

}  // namespace gpu::kernels::select
