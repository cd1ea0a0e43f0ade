#pragma once
// Tuning of the mean filter as data. Measured by bench/mean_filter_bench on an H100 (see
// docs/mean_filter.md); nothing here changes an answer.

#include <cstddef>

#include <gpu/mean_filter.hpp>

#include "plan/mean_filter_variants.hpp"

namespace gpu::inline v0::detail {

/// Rows shorter than this are filtered by `direct` for windows up to the one below, and convolved
/// by `constant_memory`: a block would have too little to share.
inline constexpr index_t shortest_tiled_row = 512;
inline constexpr index_t longest_direct_window = 9;

/// Whether `direct` takes narrow windows of so few outputs in all rows: other kernels take 2 to 4
/// us before they begin. On an H100, us, `direct` and `block_sums` of doubles: 2.7 and 4.9 for
/// 1,000 outputs at window 5, 3.2 and 5.2 for 200,000, 6.5 and 6.6 for 700,000; at window 9 4.3
/// and 5.5 for 200,000; at 13 5.1 and 6.2 for 128,000, 6.5 and 5.6 for 300,000; at 17 5.8 and 5.1
/// for any.
constexpr bool has_few_outputs(index_t outputs, index_t window) {
  return (window <= 9 && outputs <= index_t{1} << 18) ||
         (window <= 13 && outputs <= index_t{1} << 17);
}

/// Largest window whose tile with halo fits the shared memory of a block on every device from
/// sm_75 on (64 KiB).
constexpr index_t max_block_sums_window(std::size_t element_bytes) {
  return element_bytes == 8 ? 4500 : 12000;
}

/// The CUDA variant for rows of `output_cols` outputs.
constexpr mean_filter_variant cuda_mean_filter_variant(std::size_t element_bytes, index_t rows,
                                                       index_t output_cols, index_t window) {
  if ((output_cols < shortest_tiled_row && window <= longest_direct_window) ||
      has_few_outputs(rows * output_cols, window)) {
    return mean_filter_variant::direct;
  }
  const index_t longest = element_bytes == 8 ? min_multi_level_window : 2 * min_multi_level_window;
  return window <= longest ? mean_filter_variant::block_sums : mean_filter_variant::multi_level;
}

/// The same for convolve.
constexpr mean_filter_variant cuda_convolve_variant(std::size_t, index_t output_cols,
                                                    index_t window) {
  if (output_cols < shortest_tiled_row) return mean_filter_variant::constant_memory;
  return window <= max_block_sums_weights ? mean_filter_variant::block_sums
                                          : mean_filter_variant::shared_memory;
}

}  // namespace gpu::inline v0::detail
