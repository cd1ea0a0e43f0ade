#pragma once
// Where the windows of a filter lie, and which implementation computes them.

#include <cstddef>

#include <gpu/mean_filter.hpp>

namespace gpu::inline v0::detail {

/// Largest window: sums of int32 stay exact (|sum| < 2^62).
inline constexpr index_t max_window = (index_t{1} << 31) - 1;
/// Longer windows have to be shorter than twice the row where places beyond it have values.
inline constexpr index_t max_far_window = 511;
/// Up to here a double holds every sum of int32 exactly, and the quotient truncates rightly.
inline constexpr index_t max_exact_window = index_t{1} << 21;
/// Limits of the CUDA variants; the header states them.
inline constexpr index_t max_shared_window = 4096;
inline constexpr index_t max_block_sums_weights = 9;  // of convolve, which sums them in registers
/// On CUDA `block_sums` filters rows up to this several to a block, for windows of up to twice
/// that.
inline constexpr index_t longest_short_row = 256;
inline constexpr index_t min_multi_level_window = 1152;  // a tile of it

/// Output j of a row is made of elements j - left to j - left + window - 1 of the extended row.
struct filter_shape {
  index_t rows = 0;
  index_t cols = 0;         ///< Elements of an input row.
  index_t output_cols = 0;  ///< Elements of an output row.
  index_t window = 1;       ///< As asked, less the places that are empty for every output.
  index_t left = 0;
  index_t divisor = 1;  ///< The window as asked.
  gpu::boundary boundary = gpu::boundary::zero;
};

/// Validates window, origin and boundary and places the windows of mean_filter.
filter_shape mean_filter_shape(index_t rows, index_t cols, const mean_filter_options& options);

/// The same for convolve with `weights` weights: the window is never cut.
filter_shape convolve_shape(index_t rows, index_t cols, index_t weights,
                            const convolve_options& options);

/// How many elements of its row the window of output j holds.
constexpr index_t elements_in_window(const filter_shape& shape, index_t j) {
  const index_t first = j - shape.left;
  const index_t last = first + shape.window - 1;
  return (last < shape.cols - 1 ? last : shape.cols - 1) - (first > 0 ? first : 0) + 1;
}

/// The variant that runs where `asked` is `automatic`; else `asked`, or gpu::unsupported where
/// the backend does not offer it for this window. A pure function of its arguments.
mean_filter_variant choose_mean_filter_variant(backend used, std::size_t element_bytes,
                                               const filter_shape& shape,
                                               mean_filter_variant asked);
mean_filter_variant choose_convolve_variant(backend used, std::size_t element_bytes,
                                            const filter_shape& shape, mean_filter_variant asked);

}  // namespace gpu::inline v0::detail
