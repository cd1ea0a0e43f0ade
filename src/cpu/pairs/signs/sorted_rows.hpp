#pragma once
// Kendall's S by sorting, as Knight (1966): the values of one row in the order of the other are
// sorted, and the exchanges counted.

#include <cstddef>
#include <cstdint>
#include <vector>

#include "cpu/pairs/signs/kendall_rows.hpp"
#include "cpu/platform/aligned_buffer.hpp"

namespace gpu::cpu {

class sorted_rows final : public kendall_rows {
 public:
  sorted_rows(index_t rows, index_t cols);

  /// Rows may be stored side by side by several threads; `values` are numbers from 0 on without
  /// gaps.
  /// Memory of a thread that stores rows.
  struct store_scratch {
    std::vector<std::uint32_t> next;  // place of the next column of each value
  };
  void store(index_t i, const std::vector<std::uint32_t>& values, const row_ties& ties,
             store_scratch& scratch);
  void finish() {}

  [[nodiscard]] std::size_t kernel_bytes() const override;
  void statistics(const pair_task& task, const pair_tile& tile, pair_scratch& scratch,
                  double* out) const override;

 private:
  // S of rows i and j; `memory` has room for two rows.
  [[nodiscard]] std::int64_t sum(index_t i, index_t j, std::uint32_t* memory) const;

  aligned_buffer<std::uint32_t> values_;  // [rows, cols]
  aligned_buffer<std::uint32_t> order_;   // [rows, cols]: columns in the order of their values
};

/// The pairs of values in falling order. Leaves the values in any order; `memory` has as much room.
std::int64_t falling_pairs(std::uint32_t* values, index_t count, std::uint32_t* memory);
/// Sorts values whose partners are equal; the pairs of them that are equal too.
std::int64_t sort_group(std::uint32_t* values, index_t count);

/// Bytes of a row of so many columns; of `memory` for sums, and of what stores rows.
std::size_t sorted_row_bytes(index_t cols);
std::size_t sorted_scratch_bytes(index_t cols);
std::size_t sorted_packing_bytes(index_t cols);

}  // namespace gpu::cpu
