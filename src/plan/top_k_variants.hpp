#pragma once
// Which variant of top_k runs: one visible pure function of shape, k and backend.

#include <cstddef>

#include <gpu/backend.hpp>
#include <gpu/top_k.hpp>

namespace gpu::detail {

/// What the choice depends on.
struct top_k_shape {
  index_t rows = 1;
  index_t cols = 0;
  index_t k = 1;  ///< Entries per row: min(k asked for, cols).
  bool distinct = false;
};

/// Limits of the CUDA variants; the kernels' policies are checked against them.
inline constexpr index_t top_k_threshold_most_k = 4096;
inline constexpr index_t top_k_threshold_most_distinct_k = 1024;
inline constexpr index_t top_k_insert_most_k = 32;
inline constexpr index_t top_k_block_most_k = 2048;
inline constexpr index_t top_k_warp_most_cols = 1024;

/// The variant of a call: `asked`, or where that is `automatic` the fastest for this shape.
/// @throw gpu::unsupported where `asked` is not offered for this backend or shape.
top_k_variant choose_top_k_variant(const top_k_shape& shape, backend used, top_k_variant asked);

}  // namespace gpu::detail
