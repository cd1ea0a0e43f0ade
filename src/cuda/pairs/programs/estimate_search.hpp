#pragma once
// Best partners of long rows: estimates of all statistics in single precision, of unit rows by
// products of halves, of ranks by their products; and the few partners that can be among the best
// of a row are computed anew: kernels/pairs/neighbors/estimates.cu. For host and device results.

#include <cuda_runtime_api.h>

#include <cstddef>

#include "cuda/pairs/programs/call_shape.hpp"
#include "cuda/pairs/programs/tile_step.hpp"
#include "cuda_runtime/arena.hpp"
#include "kernels/pairs/neighbors/kernels.hpp"

namespace gpu::cuda {

class estimate_search {
 public:
  /// What would be done instead: selection from all exact statistics, of a table computed once a
  /// pair; or the decision of candidates, computed for each row.
  enum class other_way { selection, candidates };
  /// Whether the search takes lists of k partners.
  static bool takes(const call_shape& shape, index_t k, other_way instead);
  static std::size_t row_bytes(const call_shape& shape) {
    return static_cast<std::size_t>(shape.area.cols.size()) * sizeof(float);
  }
  /// Rows whose estimates are there at a time, of at most so many bytes: all, or whole tiles of
  /// rows, one in any case.
  static index_t rows_within(const call_shape& shape, std::size_t bytes);

  /// Takes the memory of the estimates of so many rows.
  estimate_search(const call_shape& shape, index_t block_rows, arena& memory)
      : shape_(shape), estimates_(memory.take<float>(block_rows * shape.area.cols.size())) {}

  /// Writes the estimates of rows [block.begin, block.end), on every panel of these with all
  /// columns.
  [[nodiscard]] tile_step<kernels::dense_sink_args> estimate(detail::index_range block) const;
  /// The lists of those rows. `source`: all rows of the input.
  void choose(const kernels::pair_operand& source, const kernels::neighbor_query& query,
              detail::index_range block, const kernels::neighbor_result& lists,
              cudaStream_t stream) const;

 private:
  const call_shape& shape_;
  float* estimates_;
};

}  // namespace gpu::cuda
