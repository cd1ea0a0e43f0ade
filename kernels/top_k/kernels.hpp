#pragma once
// Host-callable launches of top_k. Asynchronous on `stream`; no allocation, no synchronisation.

#include <cuda_runtime_api.h>

#include <cstddef>

#include <gpu/matrix_view.hpp>
#include <gpu/top_k.hpp>

namespace gpu::kernels {

/// What is asked of a launch.
struct top_k_job {
  index_t rows = 1;
  index_t cols = 0;  ///< At least 1.
  index_t k = 1;     ///< 1 .. cols.
  bool largest = true;
  bool sorted = true;
  bool distinct = false;
  top_k_variant variant = top_k_variant::threshold;
  int multiprocessors = 1;
  std::size_t shared_bytes = 48 * 1024;  ///< That a block may have.
};

/// Scratch memory of launch_top_k, bytes.
template <class T>
std::size_t top_k_workspace(const top_k_job& job);

/// The job.k best entries of each row: values and indices are [rows, at least k]. Distinct: the
/// best distinct values, with first positions, counts as large, and found [rows].
template <class T>
void launch_top_k(const top_k_job& job, device_matrix_view<const T> data,
                  device_matrix_view<T> values, device_matrix_view<index_t> indices,
                  void* workspace, cudaStream_t stream, device_matrix_view<index_t> counts = {},
                  index_t* found = nullptr);

}  // namespace gpu::kernels
