#pragma once
// Packing and multiplying bits on CUDA.

#include <gpu/binary_matmul.hpp>

#include "base/cuda_function.hpp"
#include "plan/binary_matmul_variants.hpp"

namespace gpu::cuda {

template <class T>
void pack_bits(device_matrix_view<const T> data, mutable_device_bit_matrix_view bits, T threshold,
               const execution& exec) GPU_SIMILARITY_OR_THROW;
/// Through the device in blocks of rows that fit the workspace.
template <class T>
void pack_bits(matrix_view<const T> data, mutable_bit_matrix_view bits, T threshold,
               const execution& exec) GPU_SIMILARITY_OR_THROW;

/// A shape, with what the choice needs to know of the device of a call. Cheap after the first call.
GPU_SIMILARITY_CUDA_FUNCTION detail::binary_matmul_shape on_device_of(
    detail::binary_matmul_shape shape, const execution& exec) GPU_SIMILARITY_OR_THROW;

/// Scratch memory of the device form, bytes.
GPU_SIMILARITY_CUDA_FUNCTION std::size_t binary_matmul_workspace(
    index_t m, index_t n, index_t k, binary_matmul_variant variant) GPU_SIMILARITY_OR_THROW;

/// `variant` is the one chosen; options.variant is not looked at.
GPU_SIMILARITY_CUDA_FUNCTION void binary_matmul(
    device_bit_matrix_view a, device_bit_matrix_view b, device_matrix_view<std::int32_t> out,
    binary_matmul_variant variant, const binary_matmul_options& options) GPU_SIMILARITY_OR_THROW;
/// Copies the operands to the device and the result back, in blocks of rows where the result does
/// not fit the workspace.
GPU_SIMILARITY_CUDA_FUNCTION void binary_matmul(
    bit_matrix_view a, bit_matrix_view b, matrix_view<std::int32_t> out,
    binary_matmul_variant variant, const binary_matmul_options& options) GPU_SIMILARITY_OR_THROW;

}  // namespace gpu::cuda
