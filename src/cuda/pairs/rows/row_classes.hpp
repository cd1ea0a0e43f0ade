#pragma once
// The rows with missing values of a table by their masks, the columns that they have: where few
// masks are shared by many rows, what a row adds to its pairs with the rows of a mask is computed
// once.

#include <cstddef>

#include "cuda/pairs/rows/budget.hpp"
#include "cuda_runtime/device_buffer.hpp"
#include "kernels/pairs/kernels.hpp"

namespace gpu::cuda {

class row_classes {
 public:
  /// No classes.
  row_classes() = default;
  /// Those of packed rows, of the tile pairwise_ranks or pairwise_values, in device memory: none
  /// where masks are many, rows too long, or memory too short, and of the other tiles. Waits for
  /// what was on the stream before, not for the tables.
  row_classes(const kernels::pair_operand& rows, kernels::pair_tile_kind tile, pair_budget& budget,
              cudaStream_t stream);

  /// For kernels; this outlives their launches.
  [[nodiscard]] const kernels::mask_classes& tables() const { return tables_; }

 private:
  kernels::mask_classes tables_;
  device_buffer<std::byte> memory_;
};

}  // namespace gpu::cuda
