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

/// Counts rows of ranks class by class. Which classes there are is known only on the device, so the
/// device lays them out. Where their padding would cost more than the tiles do, it counts nothing,
/// and the tiles count all pairs.
class stream_class_counts {
 public:
  /// Whether the kernels take a call of this shape.
  static bool takes(const call_shape& shape);
  /// Takes its memory from `memory`; with `binned` also that of counts with bins.
  stream_class_counts(const call_shape& shape, bool binned, arena& memory);

  /// Counts the pairs at a cut that drops 0, and bins them where `binning` has bins, unless it
  /// leaves them to the tiles.
  void run(const stream_rows& rows, const detail::keep_range& keep,
           const kernels::bin_sink_args& binning, const count_totals& to,
           cudaStream_t stream) const;
  /// In device memory: 1 where run() has counted the pairs, 0 where it has left them to the tiles.
  [[nodiscard]] const std::uint32_t* done() const { return target_.is_of_use; }

 private:
  const call_shape& shape_;
  kernels::class_layout_target target_{};
  std::uint32_t* order_;
  std::byte* temporary_;
  std::uint8_t* tiles_;
  std::uint32_t* packed_degree_;
};

/// Counts unit rows by half-precision products, and by the exact test of the pairs that these leave
/// undecided.
class stream_unit_counts {
 public:
  /// Whether the kernels take a call of this shape.
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
  float* floats_ = nullptr;  // rows in single precision, where they are not corrected
};

}  // namespace gpu::cuda
