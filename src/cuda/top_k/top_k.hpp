#pragma once
// top_k on CUDA: buffers, workspace and streams around the launches of kernels/top_k.

#include <cstddef>

#include <gpu/matrix_view.hpp>
#include <gpu/top_k.hpp>

#include "base/cuda_function.hpp"

namespace gpu::cuda {

/// Shared memory that a block may have on the device of `exec`, bytes.
GPU_SIMILARITY_CUDA_FUNCTION std::size_t top_k_shared_bytes(const execution& exec)
    GPU_SIMILARITY_OR_THROW;

/// Scratch memory of a call, bytes. The variant is decided.
template <class T>
std::size_t top_k_workspace(index_t rows, index_t cols, index_t k, bool distinct,
                            const top_k_options& options) GPU_SIMILARITY_OR_THROW;

/// Host memory in and out, blocking; outputs dense as in cpu/top_k/top_k.hpp. Distinct values where
/// `found` is not null, else `counts` is null too.
template <class T>
void top_k(matrix_view<const T> data, index_t k, T* values, index_t* indices, index_t* counts,
           index_t* found, const top_k_options& options) GPU_SIMILARITY_OR_THROW;

/// The same of device memory, asynchronous on options.exec.stream; outputs may be wider than k.
template <class T>
void top_k(device_matrix_view<const T> data, index_t k, device_matrix_view<T> values,
           device_matrix_view<index_t> indices, device_matrix_view<index_t> counts, index_t* found,
           const top_k_options& options) GPU_SIMILARITY_OR_THROW;

}  // namespace gpu::cuda
