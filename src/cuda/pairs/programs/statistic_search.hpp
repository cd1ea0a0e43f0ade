#pragma once
// Best partners from whole rows of statistics with all columns, a block of rows at a time. For host
// and device results.

#include <cuda_runtime_api.h>

#include <cstddef>

#include <gpu/pair_sinks.hpp>

#include "base/keep_range.hpp"
#include "cuda/pairs/programs/call_shape.hpp"
#include "cuda_runtime/arena.hpp"
#include "kernels/pairs/neighbors/kernels.hpp"
#include "kernels/top_k/kernels.hpp"

namespace gpu::cuda {

/// Of long rows: estimates of all statistics in single precision, of unit rows by products of
/// halves or of floats, of ranks by their products; and the few partners that can be among the best
/// of a row are computed anew: kernels/pairs/neighbors/estimates.cu.
class estimate_search {
 public:
  /// Whether the search finds lists of k partners faster than row_search.
  static bool takes(const call_shape& shape, index_t k);
  static std::size_t row_bytes(const call_shape& shape) {
    return static_cast<std::size_t>(shape.area.cols.size()) * sizeof(float);
  }
  /// Whether the table is computed at once where it meets itself and there is memory.
  static bool takes_whole_table(const call_shape&) { return true; }

  /// For lists of k partners. Takes the memory of the estimates of so many rows.
  estimate_search(const call_shape& shape, index_t k, neighbor_order order, index_t most_rows,
                  arena& memory)
      : shape_(shape),
        k_(k),
        order_(order),
        estimates_(memory.take<float>(most_rows * shape.area.cols.size())) {}

  /// Writes the estimates of rows [block.begin, block.end), on every panel of these with all
  /// columns.
  [[nodiscard]] tile_step<kernels::dense_sink_args> compute(detail::index_range block) const;
  /// The lists of those rows; `keep` is one filter for all pairs. `source`: all rows of the input.
  void choose(const kernels::pair_operand& source, const detail::pair_cut& keep,
              detail::index_range block, const kernels::neighbor_result& lists,
              cudaStream_t stream) const;

 private:
  const call_shape& shape_;
  index_t k_;
  neighbor_order order_;
  float* estimates_;
};

/// The same from exact statistics: the best entries of each row are selected from them. For what no
/// other search takes: long lists, rows with missing values, variants without estimates, two
/// filters by ties, rows that are not resident.
class row_search {
 public:
  static std::size_t row_bytes(const call_shape& shape) {
    return static_cast<std::size_t>(shape.area.cols.size()) * sizeof(double);
  }
  /// The same as of estimates: where this saves more than memory costs that every call maps anew.
  static bool takes_whole_table(const call_shape& shape);

  row_search(const call_shape& shape, index_t k, neighbor_order order, index_t most_rows,
             arena& memory);
  [[nodiscard]] tile_step<kernels::dense_sink_args> compute(detail::index_range block) const;
  void choose(const kernels::pair_operand& source, const detail::pair_cut& keep,
              detail::index_range block, const kernels::neighbor_result& lists,
              cudaStream_t stream) const;

 private:
  const call_shape& shape_;
  index_t k_;
  neighbor_order order_;
  kernels::top_k_job job_;  // of rows that are selected from at a time
  double* statistics_;
  double* keys_;  // of such a block; null: the statistics themselves
  double* best_;
  index_t* columns_;
  std::byte* scratch_;
};

}  // namespace gpu::cuda
