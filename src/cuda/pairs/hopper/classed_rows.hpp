#pragma once
// Prepared ranks packed class by class for the pair count.

#include "cuda/pairs/area_walk.hpp"
#include "cuda/pairs/device_rows.hpp"
#include "cuda/pairs/hopper/class_layout.hpp"
#include "cuda_runtime/device_buffer.hpp"
#include "kernels/pairs/classes/kernels.hpp"

namespace gpu::cuda {

/// Rows in order of their square sum, and what that says about the layout of their classes.
class ordered_classes {
 public:
  /// Device memory that ordering `rows` rows of `cols` observations takes.
  static std::size_t bytes(index_t rows, index_t cols);

  /// Orders those of `rows`, resident int8 ranks that outlive this, that `sides` names and that
  /// have a statistic. Waits for the device.
  ordered_classes(const device_rows& rows, const area_sides& sides, cudaStream_t stream);

  [[nodiscard]] const class_layout& layout() const { return layout_; }
  [[nodiscard]] const kernels::screen_ranks& ranks() const { return ranks_; }
  /// The rows that are left, in order.
  [[nodiscard]] kernels::class_order order() const;

 private:
  [[nodiscard]] class_layout find_layout(cudaStream_t stream);

  kernels::screen_ranks ranks_;
  area_sides sides_;
  index_t count_;  // rows of the input
  device_buffer<std::uint32_t> order_;
  class_layout layout_;
};

class classed_rows {
 public:
  /// Device memory that rows of this layout take beside what orders them.
  static std::size_t bytes(const class_layout& layout, int depth);

  /// Packs rows for `depth` bytes; `classes` may end afterwards.
  classed_rows(const ordered_classes& classes, int depth, cudaStream_t stream);

  [[nodiscard]] const kernels::class_rows& rows() const { return packed_; }

 private:
  device_buffer<std::uint32_t> slots_;
  device_buffer<std::uint8_t> tiles_;
  device_buffer<kernels::class_extents> extents_;
  device_buffer<int> square_sums_;
  device_buffer<kernels::count_panel> panels_;
  device_buffer<index_t> items_before_;
  device_buffer<std::uint32_t> first_panel_;
  kernels::class_rows packed_{};
};

}  // namespace gpu::cuda
