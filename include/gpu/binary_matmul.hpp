#pragma once
/// @file
/// Products of matrices of bits: +1/-1 dot products, Hamming distances and counts of common ones;
/// and the packing of numbers into bits.

#include <cstdint>
#include <string_view>
#include <type_traits>

#include <gpu/bit_matrix.hpp>
#include <gpu/execution.hpp>
#include <gpu/export.hpp>
#include <gpu/matrix.hpp>
#include <gpu/matrix_input.hpp>
#include <gpu/matrix_view.hpp>

namespace gpu {
inline namespace v0 {

/// What is computed of a row of a and a row of b.
enum class bit_product {
  xnor_dot,          ///< Dot product of the rows as +1/-1: cols - 2 popcount(a xor b).
  hamming_distance,  ///< Bits that differ: popcount(a xor b).
  and_count          ///< Bits that are 1 in both: popcount(a and b).
};

/// The implementation that multiplies; every one gives the same integers.
enum class binary_matmul_variant {
  automatic,        ///< Chosen by device and shape.
  popcount,         ///< CPU: words of 64 bits, or the widest the machine has. CUDA: one thread per
                    ///< result, operands from global memory.
  popcount_shared,  ///< CUDA: a row of a in shared memory, one block per row of the result.
  popcount_tiled,   ///< CUDA: tiles of both operands in shared memory, results in registers.
  tensor,           ///< CUDA: 1-bit tensor cores (mma.sync AND and the popcount identity), sm_80.
  hopper            ///< CUDA: 1-bit warpgroup tensor cores, compute capability 9.0.
};

/// "automatic", "popcount", "popcount_shared", "popcount_tiled", "tensor" or "hopper".
[[nodiscard]] GPU_SIMILARITY_EXPORT std::string_view to_string(
    binary_matmul_variant variant) noexcept;

/// Options of binary_matmul.
struct binary_matmul_options {
  /// What an element of the result is.
  bit_product product = bit_product::xnor_dot;
  /// The implementation; gpu::unsupported where the backend or device does not offer it.
  binary_matmul_variant variant = binary_matmul_variant::automatic;
  /// Device overload only: scratch memory of the caller, at least
  /// plan_binary_matmul().workspace_bytes, 256-byte aligned, used by nothing else until the stream
  /// has passed this call. Empty: scratch comes from the stream's memory pool (cudaMallocAsync).
  device_workspace workspace = {};
  /// Where it runs.
  execution exec = {};
};

/// What a call of binary_matmul would run.
struct binary_matmul_plan {
  backend used = backend::cpu;  ///< Where it would run.
  /// The implementation, never `automatic`.
  binary_matmul_variant variant = binary_matmul_variant::popcount;
  std::size_t workspace_bytes = 0;  ///< Device scratch memory besides a, b and the result.
  std::size_t result_bytes = 0;     ///< Size of the result.
};

namespace detail {
template <class T>
GPU_SIMILARITY_EXPORT bit_matrix pack_bits(matrix_view<const T> data, T threshold,
                                           const execution& exec);
template <class T>
GPU_SIMILARITY_EXPORT void pack_bits(device_matrix_view<const T> data,
                                     mutable_device_bit_matrix_view bits, T threshold,
                                     const execution& exec);
}  // namespace detail

/// Bit (i, j) is 1 where data(i, j) >= threshold, else 0: with the default threshold the sign; zero
/// (and -0.0) counts as positive. NaN gives 0.
/// @param data values [rows, cols] in host memory, as spearman_all_pairs takes them.
/// @param threshold the least value whose bit is 1.
/// @param exec where it runs.
/// @return bits [rows, cols]; those past the last column are 0.
/// @throw gpu::backend_unavailable, gpu::out_of_memory, gpu::cuda_error.
/// Cost: one read of data.
template <matrix_like Data>
[[nodiscard]] bit_matrix pack_bits(const Data& data, detail::element_or_float<Data> threshold = {},
                                   const execution& exec = {}) {
  return detail::pack_bits(detail::read_elements(data), threshold, exec);
}

/// As above on device memory: asynchronous on `exec.stream`. `bits` is [rows, cols].
template <input_element T>
void pack_bits(device_matrix_view<T> data, mutable_device_bit_matrix_view bits,
               std::type_identity_t<std::remove_const_t<T>> threshold = {},
               const execution& exec = {}) {
  detail::pack_bits<std::remove_const_t<T>>(device_matrix_view<const std::remove_const_t<T>>(data),
                                            bits, threshold, exec);
}

/// The product of every row of `a` with every row of `b`: b holds the right operand transposed.
/// @param a bits [m, k].
/// @param b bits [n, k]; k up to 2^31 - 1.
/// @param options product, variant, backend.
/// @return [m, n]: element (i, j) is options.product of row i of a and row j of b, exact. With
///   k = 0 every element is 0.
/// @throw gpu::invalid_argument where a and b differ in columns or k is too large;
///   gpu::unsupported where the variant is not offered for this backend or device;
///   gpu::backend_unavailable, gpu::out_of_memory, gpu::cuda_error.
/// Cost: m n k / 32 word operations; 4 m n bytes of result.
[[nodiscard]] GPU_SIMILARITY_EXPORT matrix<std::int32_t> binary_matmul(
    bit_matrix_view a, bit_matrix_view b, const binary_matmul_options& options = {});

/// As above on device memory: asynchronous on `options.exec.stream`; scratch (about the size of a
/// and b) is `options.workspace` or comes from the stream's memory pool. `out` is [m, n] and
/// overlaps neither operand.
/// @throw gpu::invalid_argument also for a workspace that is too small or not aligned.
GPU_SIMILARITY_EXPORT void binary_matmul(device_bit_matrix_view a, device_bit_matrix_view b,
                                         device_matrix_view<std::int32_t> out,
                                         const binary_matmul_options& options = {});

/// What binary_matmul would run for a [m, k] and b [n, k], without running it.
/// @throw gpu::invalid_argument for a negative extent or a k that is too large; otherwise as
///   binary_matmul.
[[nodiscard]] GPU_SIMILARITY_EXPORT binary_matmul_plan
plan_binary_matmul(index_t m, index_t n, index_t k, const binary_matmul_options& options = {});

}  // namespace v0
}  // namespace gpu
