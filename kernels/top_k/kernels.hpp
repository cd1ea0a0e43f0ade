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
  top_k_variant variant = top_k_variant::threshold;
  int multiprocessors = 1;
  std::size_t shared_bytes = 48 * 1024;  ///< That a block may have.
};

/// Scratch memory of launch_top_k, bytes.
template <class T>
std::size_t top_k_workspace(const top_k_job& job);

/// The job.k best entries of each row: values and indices are [rows, at least k].
template <class T>
void launch_top_k(const top_k_job& job, device_matrix_view<const T> data,
                  device_matrix_view<T> values, device_matrix_view<index_t> indices,
                  void* workspace, cudaStream_t stream);

/// Scratch memory of launch_top_k_distinct, bytes.
template <class T>
std::size_t top_k_distinct_workspace(const top_k_job& job);

/// The job.k best distinct values of each row with first positions and counts; found [rows].
template <class T>
void launch_top_k_distinct(const top_k_job& job, device_matrix_view<const T> data,
                           device_matrix_view<T> values, device_matrix_view<index_t> indices,
                           device_matrix_view<index_t> counts, index_t* found, void* workspace,
                           cudaStream_t stream);

}  // namespace gpu::kernels
