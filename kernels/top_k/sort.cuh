#pragma once
// The bodies of sort.hpp.

#include <algorithm>

#include <thrust/iterator/counting_iterator.h>
#include <thrust/iterator/transform_iterator.h>
#include <cub/device/device_radix_sort.cuh>
#include <cub/device/device_segmented_radix_sort.cuh>

#include "kernels/common/launch.cuh"
#include "kernels/top_k/sort.hpp"

namespace gpu::kernels::select {

/// Rows longer than this are sorted one by one, by all of the device.
inline constexpr index_t segmented_most_cols = 65536;

/// Start of row i, as an iterator over i.
struct row_start {
  int cols;
  __host__ __device__ int operator()(int row) const { return row * cols; }
};

template <class Word>
cudaError_t sort_rows(void* workspace, std::size_t& bytes, cub::DoubleBuffer<Word>& words,
                      index_t rows, index_t cols, bit_range bits, cudaStream_t stream) {
  if (rows == 1) {
    return cub::DeviceRadixSort::SortKeysDescending(workspace, bytes, words, cols, bits.first,
                                                    bits.end, stream);
  }
  const auto starts = thrust::make_transform_iterator(thrust::counting_iterator<int>(0),
                                                      row_start{static_cast<int>(cols)});
  return cub::DeviceSegmentedRadixSort::SortKeysDescending(
      workspace, bytes, words, static_cast<int>(rows * cols), static_cast<int>(rows), starts,
      starts + 1, bits.first, bits.end, stream);
}

template <class Word>
std::size_t sort_words_workspace(index_t rows, index_t cols) {
  cub::DoubleBuffer<Word> words;
  const auto bytes_of = [&](index_t together) {
    std::size_t bytes = 0;
    GPU_SIMILARITY_CUDA_CHECK(
        sort_rows(nullptr, bytes, words, together, cols, {0, 8 * sizeof(Word)}, nullptr));
    return bytes;
  };
  return cols > segmented_most_cols ? bytes_of(1) : std::max(bytes_of(1), bytes_of(rows));
}

template <class Word>
const Word* sort_words(Word* words, Word* spare, index_t rows, index_t cols, bit_range bits,
                       void* workspace, std::size_t workspace_bytes, cudaStream_t stream) {
  const index_t together = cols > segmented_most_cols ? 1 : rows;
  const Word* sorted = words;
  for (index_t i = 0; i < rows; i += together) {
    cub::DoubleBuffer<Word> both(words + i * cols, spare + i * cols);
    GPU_SIMILARITY_CUDA_CHECK(
        sort_rows(workspace, workspace_bytes, both, together, cols, bits, stream));
    sorted = both.Current() - i * cols;
  }
  return sorted;
}

}  // namespace gpu::kernels::select
