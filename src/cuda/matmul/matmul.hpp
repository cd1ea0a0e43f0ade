#pragma once
// Matrix multiply on CUDA.

#include <gpu/matmul.hpp>

#include "base/cuda_function.hpp"
#include "plan/matmul_variants.hpp"

namespace gpu::cuda {

/// The device of a call as the choice of a variant sees it. Cheap after the first call per device.
GPU_SIMILARITY_CUDA_FUNCTION detail::matmul_device describe_matmul_device(const execution& exec)
    GPU_SIMILARITY_OR_THROW;

/// Copies the operands to the device, in panels of rows of C where they do not fit
/// `exec.workspace_bytes` (0: the free memory), multiplies and copies C back.
template <class T>
void matmul(matrix_view<const T> a, matrix_view<const T> b, matrix_view<T> c,
            const matmul_options& options) GPU_SIMILARITY_OR_THROW;

/// Runs `choice` on the options' stream.
template <class T>
void matmul(device_matrix_view<const T> a, device_matrix_view<const T> b, device_matrix_view<T> c,
            const matmul_options& options,
            const detail::matmul_choice& choice) GPU_SIMILARITY_OR_THROW;

}  // namespace gpu::cuda
