#pragma once
// Counts unit rows on Hopper by half-precision products, which decide nearly every pair, and by the
// exact test of the pairs that these leave undecided: kernels/pairs/unit_counts. For host and
// device results.

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>

#include "base/keep_range.hpp"
#include "cuda/pairs/programs/call_shape.hpp"
#include "cuda/pairs/programs/counting.hpp"
#include "cuda/pairs/rows/memory_sizes.hpp"
#include "cuda_runtime/arena.hpp"
#include "kernels/pairs/unit_counts/kernels.hpp"

namespace gpu::cuda {

/// What a unit count has memory for, beside its rows.
struct unit_memory {
  std::uint64_t undecided;  ///< Entries of the list of undecided pairs.
  bool floats;              ///< Rows in single precision, which decide most of those.
};

class unit_counter {
 public:
  /// Whether the kernels take a call of this shape.
  static bool takes(const call_shape& shape);
  /// What a call needs, what it has use for, and as much of that as fits `bytes`, which are at
  /// least bytes(shape, least_memory).
  static constexpr unit_memory least_memory{memory_sizes::least_undecided, false};
  static unit_memory wanted_memory(const call_shape& shape);
  static unit_memory fitting_memory(const call_shape& shape, std::size_t bytes);
  static std::size_t bytes(const call_shape& shape, const unit_memory& use);

  /// Takes its memory.
  unit_counter(const call_shape& shape, const unit_memory& use, arena& memory);

  /// Work items that cover all pairs of the area.
  [[nodiscard]] index_t items() const { return kernels::unit_count_items(work_.packed); }

  /// Packs the rows of `source` for this cut and forgets all counts.
  void pack(const kernels::pair_operand& source, const detail::keep_range& keep,
            cudaStream_t stream) const;
  /// Counts the items [first, last), launch by launch.
  void run(const kernels::pair_operand& source, const detail::keep_range& keep, index_t first,
           index_t last, cudaStream_t stream) const;
  /// Adds what was counted to the totals.
  void finish(const count_totals& to, cudaStream_t stream) const;

 private:
  int multiprocessors_;
  kernels::unit_count work_{};
  kernels::unit_cut* cut_;
  float* floats_;  // null where there are none
};

}  // namespace gpu::cuda
