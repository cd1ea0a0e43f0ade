#pragma once
// Counts rows of ranks on Hopper class by class (rows of one side and one square sum), and bins
// their pairs, by the warpgroup tensor cores' exact sums: kernels/pairs/classes. For host and
// device results.

#include <cuda_runtime_api.h>

#include <cstdint>

#include "base/keep_range.hpp"
#include "cuda/pairs/programs/call_shape.hpp"
#include "cuda/pairs/programs/counting.hpp"
#include "cuda_runtime/arena.hpp"
#include "kernels/pairs/classes/kernels.hpp"

namespace gpu::cuda {

/// Which classes there are is known only on the device, so the device lays them out. Where their
/// padding would cost more than the tiles do, there are no items: nothing is counted, done() says
/// so, and the tiles count all pairs.
class class_counter {
 public:
  /// How many places and items there are, or at most can be.
  struct extents {
    index_t places;
    index_t items;
  };

  /// Whether the kernels take a call of this shape, with bins where `binned`.
  static bool takes(const call_shape& shape, bool binned);
  /// Whether they take a cut: the sums of padding are 0, so it has to drop these.
  static bool takes(const detail::keep_range& keep);

  /// Takes the memory of the layout; with `binned`, for counts with bins. `shape` outlives this.
  class_counter(const call_shape& shape, bool binned, arena& memory);
  /// Takes the memory of the packed rows, in so many places.
  void take_places(index_t places, arena& memory);

  /// The extents that no layout of use exceeds.
  [[nodiscard]] extents most() const;
  /// Those of the layout, no items where it is of no use; behind lay_out(). Waits for the stream.
  [[nodiscard]] extents read(cudaStream_t stream) const;
  /// In device memory: 1 where the layout is of use, else 0.
  [[nodiscard]] const std::uint32_t* done() const { return use_.is_of_use; }

  /// Lays out the rows of `source`.
  void lay_out(const kernels::pair_operand& source, cudaStream_t stream) const;
  /// Packs them and forgets all counts. The layout fits the places that were taken, or is of no
  /// use.
  void pack(const kernels::pair_operand& source, cudaStream_t stream) const;
  /// Counts the items [first, last), as far as they exist, and bins their pairs where `binning` has
  /// bins.
  void run(const detail::keep_range& keep, const kernels::bin_sink_args& binning, index_t first,
           index_t last, cudaStream_t stream) const;
  /// Adds what was counted to the totals.
  void finish(const count_totals& to, cudaStream_t stream) const;

 private:
  const call_shape& shape_;
  std::uint32_t* order_;
  std::byte* temporary_;
  kernels::class_rows packed_{};
  kernels::class_use use_{};
  std::uint32_t* packed_degree_ = nullptr;
};

}  // namespace gpu::cuda
