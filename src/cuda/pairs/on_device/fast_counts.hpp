#pragma once
// Counts on Hopper in the caller's device memory, by the kernels that count for host results.

#include <cuda_runtime_api.h>

#include <cstdint>

#include "base/keep_range.hpp"
#include "cuda/pairs/on_device/stream_rows.hpp"
#include "kernels/pairs/classes/kernels.hpp"
#include "kernels/pairs/unit_counts/kernels.hpp"

namespace gpu::cuda {

/// Where counts are added.
struct count_totals {
  std::uint32_t* degree;     ///< [rows of the input]
  unsigned long long* ends;  ///< Twice the kept pairs.
};

/// Rows of ranks, class by class. Which classes there are, only the device knows: it makes their
/// layout, and where padding them would cost more than the tiles, leaves the pairs to these.
class stream_class_counts {
 public:
  /// Whether the kernels are there for this call.
  static bool takes(const call_shape& shape);
  /// Takes its memory; with `binned`, for counts with bins.
  stream_class_counts(const call_shape& shape, bool binned, arena& memory);

  /// Counts the pairs at a cut that drops 0, with `binning` where it has bins, unless the tiles are
  /// to do it.
  void run(const stream_rows& rows, const detail::keep_range& keep,
           const kernels::bin_sink_args& binning, const count_totals& to,
           cudaStream_t stream) const;
  /// In device memory: 1 where run() has counted, 0 where it has left the pairs to the tiles.
  [[nodiscard]] const std::uint32_t* done() const { return target_.is_of_use; }

 private:
  const call_shape& shape_;
  kernels::class_layout_target target_{};
  std::uint32_t* order_;
  std::byte* temporary_;
  std::uint8_t* tiles_;
  std::uint32_t* packed_degree_;
};

/// Unit rows, by half-precision products and the exact test of what they leave undecided.
class stream_unit_counts {
 public:
  /// Whether the kernels are there for this call.
  static bool takes(const call_shape& shape);
  stream_unit_counts(const call_shape& shape, arena& memory);

  /// Counts all pairs.
  void run(const stream_rows& rows, const detail::keep_range& keep, const count_totals& to,
           cudaStream_t stream) const;

 private:
  const call_shape& shape_;
  kernels::unit_count work_{};
  kernels::unit_cut* cut_;
  std::uint8_t* tiles_;
  float* floats_;
};

}  // namespace gpu::cuda
