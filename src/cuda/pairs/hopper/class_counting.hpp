#pragma once
// When pairs are counted class by class, and in which launches. Used for host and device results.

#include <algorithm>
#include <cstdint>
#include <limits>

#include "kernels/pairs/classes/kernels.hpp"
#include "pairs/engine.hpp"

namespace gpu::cuda {

/// Largest square sum of a row of `cols` ranks.
constexpr index_t largest_square_sum(index_t cols) {
  return cols * (cols * cols - 1) / 3;
}

/// Largest factor by which padding the classes to whole blocks may multiply the pairs: the tensor
/// tiles decide pairs at a fifth of the rate of the counting kernel, and bin them at a thirtieth.
/// It does not apply up to `always_padded_rows`, where every count is short.
constexpr double most_class_growth(bool binned) {
  return binned ? 16 : 4;
}
inline constexpr index_t always_padded_rows = 32768;

/// Whether the cut drops a sum of 0. The counting kernel needs that: the sums of padding are 0.
constexpr bool drops_zero(const detail::keep_range& keep) {
  return keep.at_least > 0 && keep.at_most < 0;
}

/// The arguments of the kernels that bin statistics into `bins`, as `request` asks.
inline kernels::bin_sink_args binning_of(const detail::bin_request& request,
                                         unsigned long long* bins) {
  kernels::bin_sink_args binning{};
  binning.key = request.key;
  binning.low = request.low;
  binning.high = request.high;
  binning.scale = request.scale;
  binning.count = request.bins;
  binning.bins = bins;
  return binning;
}

/// Counts the work items [first, last), as far as they exist, and bins their pairs where `binning`
/// has bins. A block counts each sum with 32 bits, so a launch with bins has no more items than
/// these can count where all pairs have the same sum.
inline void count_class_items(const kernels::class_rows& packed, index_t cols,
                              const detail::keep_range& keep, const kernels::bin_sink_args& binning,
                              index_t first, index_t last, std::uint32_t* degree,
                              int multiprocessors, cudaStream_t stream) {
  constexpr std::int64_t item_pairs = std::int64_t{kernels::count_panel_blocks} *
                                      kernels::count_chunk_blocks * kernels::count_block_rows *
                                      kernels::count_block_rows;
  constexpr index_t most_binned_items = std::numeric_limits<std::uint32_t>::max() / item_pairs;
  static_assert(most_binned_items > 0);
  const index_t step = binning.bins == nullptr ? last - first : most_binned_items * multiprocessors;
  for (index_t begin = first; begin < last; begin += step) {
    kernels::launch_class_count(packed, cols, keep.at_least, keep.at_most, binning, begin,
                                std::min(begin + step, last), degree, multiprocessors, stream);
  }
}

}  // namespace gpu::cuda
