#pragma once
// Best partners by the maxima of groups of 128 partners, which the tensor cores find in half
// precision; then every row looks at the k or so groups that can hold its own:
// kernels/pairs/neighbors. For host and device results.

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>

#include "cuda/pairs/programs/call_shape.hpp"
#include "cuda_runtime/arena.hpp"
#include "kernels/pairs/neighbors/kernels.hpp"
#include "pairs/engine.hpp"

namespace gpu::cuda {

/// How the best partners of the rows of an area are found.
enum class partner_way {
  few_rows,   ///< thin_search.
  groups,     ///< group_search.
  statistics  ///< From the statistics of all pairs.
};
partner_way choose_partner_way(const call_shape& shape, index_t k);

/// What a list of the best partners asks of the searches by groups.
kernels::neighbor_query query_of(const detail::keep_range& keep, index_t k, neighbor_order order);

/// Blocks of rows meet all columns; both are packed once.
class group_search {
 public:
  /// Rows of the smallest piece of work.
  static constexpr index_t unit = kernels::neighbor_row_multiple;

  explicit group_search(const call_shape& shape);

  /// Units that hold all rows.
  [[nodiscard]] index_t units() const { return left_.padded_rows / unit; }
  /// Device memory of the packed rows, and of the maxima of a unit.
  [[nodiscard]] std::size_t packed_bytes() const;
  [[nodiscard]] std::size_t unit_bytes() const {
    return static_cast<std::size_t>(unit * pitch_) * sizeof(std::uint16_t);
  }
  /// Takes the memory of the packed rows, and of the maxima of so many units.
  void take(index_t block_units, arena& memory);

  /// Packs the rows of `source`.
  void pack(const kernels::pair_operand& source, cudaStream_t stream) const;
  /// The lists of the units [first, first + count), at most as many as there is memory for. Lists
  /// of rows that are there are written, and no others.
  void run(const kernels::pair_operand& source, const kernels::neighbor_query& query, index_t first,
           index_t count, const kernels::neighbor_result& lists, cudaStream_t stream) const;

 private:
  kernels::neighbor_rows left_;
  kernels::neighbor_rows right_;
  bool one_table_;  // the left rows are the right ones
  index_t pitch_;   // of the maxima: groups, rounded up
  int warpgroups_;  // multiprocessors for warpgroup products, or 0
  std::uint16_t* maxima_ = nullptr;
};

/// Few rows against many columns: nothing is packed, the columns are read once as they are
/// prepared, and many warps share the groups of a row.
class thin_search {
 public:
  /// Takes its memory.
  thin_search(const call_shape& shape, index_t k, arena& memory);

  /// The lists of all rows.
  void run(const kernels::pair_operand& source, const kernels::neighbor_query& query,
           const kernels::neighbor_result& lists, cudaStream_t stream) const;

 private:
  kernels::neighbor_rows left_;
  kernels::neighbor_rows right_;
  index_t pitch_;
  int slices_;
  int multiprocessors_;
  std::uint16_t* maxima_;
  float* bounds_;
  kernels::neighbor_result of_slices_;
};

}  // namespace gpu::cuda
