#pragma once
// Which variant of top_k runs: one pure function of shape, k and backend.

#include <cstddef>

#include <gpu/execution.hpp>
#include <gpu/top_k.hpp>

namespace gpu::inline v0::detail {

/// What the choice depends on.
struct top_k_shape {
  index_t rows = 1;
  index_t cols = 0;
  index_t k = 1;  ///< Entries per row: min(k asked for, cols).
  bool distinct = false;
  std::size_t element_bytes = 4;
  /// CUDA: shared memory that a block of the device may have, 64 KiB on sm_75.
  std::size_t shared_bytes = 64 * 1024;
};

/// Limits of the CUDA variants; the kernels' policies are checked against them.
inline constexpr index_t top_k_threshold_most_k = 4096;
inline constexpr index_t top_k_threshold_most_distinct_k = 128;
inline constexpr index_t top_k_insert_most_k = 32;
inline constexpr index_t top_k_block_most_k = 2048;
inline constexpr index_t top_k_warp_most_cols = 1024;

/// Bytes of an element's key and position as one number, which the CUDA kernels compare.
constexpr std::size_t top_k_composite_bytes(std::size_t element_bytes, index_t cols) {
  const bool fits = element_bytes < 4 || (element_bytes == 4 && cols < (index_t{1} << 32) - 1);
  return fits ? 8 : 16;
}

/// Shared memory that the last kernel of the CUDA threshold variant takes beside the composites.
inline constexpr std::size_t top_k_finish_bytes = 20 * 1024;

/// The largest k of the CUDA threshold variant: its last kernel ranks k composites in shared
/// memory.
constexpr index_t top_k_threshold_most_k_of(const top_k_shape& shape) {
  const std::size_t composite = top_k_composite_bytes(shape.element_bytes, shape.cols);
  const auto fit = static_cast<index_t>((shape.shared_bytes - top_k_finish_bytes) / composite);
  return fit < top_k_threshold_most_k ? fit : top_k_threshold_most_k;
}

/// The variant of a call: `asked`, or where that is `automatic` the fastest for this shape.
/// @throw gpu::unsupported where `asked` is not offered for this backend or shape.
top_k_variant choose_top_k_variant(const top_k_shape& shape, backend used, top_k_variant asked);

}  // namespace gpu::inline v0::detail
