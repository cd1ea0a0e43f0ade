#pragma once
// rank_rows on CUDA.

#include <cstddef>

#include <gpu/matrix_view.hpp>
#include <gpu/rank.hpp>

#include "base/cuda_function.hpp"

namespace gpu::cuda {

/// Fills `ranks` [rows, cols] in host memory: blocks of rows go through device memory, copies
/// beside kernels. `options.variant` is resolved, NaN is the caller's business.
template <class T>
void rank_rows(matrix_view<const T> data, matrix_view<double> ranks,
               const rank_options& options) GPU_SIMILARITY_OR_THROW;

/// Scratch memory of a call on device memory, bytes. The variant is resolved.
template <class T>
std::size_t rank_workspace(index_t rows, index_t cols,
                           const rank_options& options) GPU_SIMILARITY_OR_THROW;

/// Device memory, asynchronous on options.exec.stream. `options.workspace` is empty or holds
/// rank_workspace() bytes.
template <class T>
void rank_rows(device_matrix_view<const T> data, device_matrix_view<double> ranks,
               const rank_options& options) GPU_SIMILARITY_OR_THROW;

}  // namespace gpu::cuda
