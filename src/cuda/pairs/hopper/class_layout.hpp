#pragma once
// Where the rows of each class (rows of one side and one square sum) stand when classes are padded
// to whole blocks, and the work items that cover every pair of them. Host arithmetic alone.

#include <cstdint>
#include <span>
#include <vector>

#include "kernels/pairs/classes/kernels.hpp"

namespace gpu::cuda {

struct class_layout {
  /// A start of a class that has no rows.
  static constexpr std::uint32_t no_rows = 0xffffffffU;

  /// `starts[key]`: position among `rows` rows in order of side and square sum of the first one of
  /// a class, or no_rows: keys are square sums, and `side_keys` more on the right side. Left rows
  /// meet right ones, and where `within` is set each other.
  class_layout(std::span<const std::uint32_t> starts, index_t rows, std::size_t side_keys,
               bool within);

  [[nodiscard]] index_t padded_rows() const {
    return static_cast<index_t>(square_sums.size()) * kernels::count_block_rows;
  }
  /// Work items: those of one chunk of left rows follow each other.
  [[nodiscard]] index_t items() const { return items_before.back(); }
  /// Pairs i < j of rows that the items [first, last) cover.
  [[nodiscard]] std::uint64_t pairs(index_t first, index_t last) const;

  std::vector<std::uint32_t> shifts;  ///< [starts.size()] from the position in order to the slot.
  std::vector<int> square_sums;       ///< Of each block.
  int left_blocks = 0;                ///< Blocks of the left side: the first ones.
  std::uint32_t chunk_blocks = 0;     ///< Of left rows of an item.
  std::vector<std::uint64_t> rows_before;  ///< [blocks + 1] rows in the blocks before.
  std::vector<kernels::count_panel> panels;
  std::vector<index_t> items_before;       ///< [chunks + 1]
  std::vector<std::uint32_t> first_panel;  ///< [chunks]
};

}  // namespace gpu::cuda
