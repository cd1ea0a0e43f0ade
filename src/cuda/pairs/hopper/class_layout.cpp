#include "cuda/pairs/hopper/class_layout.hpp"

#include <algorithm>

namespace gpu::cuda {

using kernels::count_block_rows;
using kernels::count_panel_blocks;

class_layout::class_layout(std::span<const std::uint32_t> starts, index_t rows,
                           std::size_t side_keys, bool within)
    : shifts(starts.size()), rows_before(1), items_before(1) {
  std::vector<std::size_t> classes;
  for (std::size_t s = 0; s < starts.size(); ++s) {
    if (starts[s] != no_rows) classes.push_back(s);
  }
  std::size_t left_panels = 0;
  for (std::size_t c = 0; c < classes.size(); ++c) {
    const std::size_t s = classes[c];
    const bool is_left = s < side_keys;
    const auto end =
        c + 1 < classes.size() ? starts[classes[c + 1]] : static_cast<std::uint32_t>(rows);
    auto first_block = static_cast<std::uint32_t>(square_sums.size());
    shifts[s] = first_block * count_block_rows - starts[s];
    for (std::uint32_t row = starts[s]; row < end; row += count_block_rows) {
      square_sums.push_back(static_cast<int>(is_left ? s : s - side_keys));
      rows_before.push_back(std::min<std::uint64_t>(row + count_block_rows, end));
    }
    for (auto left = static_cast<std::uint32_t>(square_sums.size()) - first_block; left > 0;) {
      const std::uint32_t blocks = std::min<std::uint32_t>(left, count_panel_blocks);
      panels.push_back({first_block, blocks});
      first_block += blocks;
      left -= blocks;
    }
    if (is_left) {
      left_blocks = static_cast<int>(square_sums.size());
      left_panels = panels.size();
    }
  }
  auto panel = static_cast<std::uint32_t>(within ? 0 : left_panels);
  chunk_blocks =
      kernels::chunk_blocks_for(static_cast<std::uint32_t>(left_blocks),
                                static_cast<std::uint32_t>(panels.size()) - panel, within);
  for (std::size_t block = 0; block < static_cast<std::size_t>(left_blocks);
       block += chunk_blocks) {
    while (within && panels[panel].first_block + panels[panel].blocks <= block) ++panel;
    first_panel.push_back(panel);
    items_before.push_back(items_before.back() + static_cast<index_t>(panels.size()) - panel);
  }
}

std::uint64_t class_layout::pairs(index_t first, index_t last) const {
  std::uint64_t total = 0;
  std::size_t chunk = 0;
  for (index_t item = first; item < last; ++item) {
    while (item >= items_before[chunk + 1]) ++chunk;
    const kernels::count_panel& panel =
        panels[first_panel[chunk] + static_cast<std::size_t>(item - items_before[chunk])];
    const std::size_t begin = chunk * chunk_blocks;
    for (std::size_t block = panel.first_block; block < panel.first_block + panel.blocks; ++block) {
      const std::uint64_t columns = rows_before[block + 1] - rows_before[block];
      if (block < begin) continue;
      const std::size_t chunk_end =
          std::min(begin + chunk_blocks, static_cast<std::size_t>(left_blocks));
      const std::size_t end = std::min(block, chunk_end);
      total += (rows_before[end] - rows_before[begin]) * columns;
      // The block behind the chunk meets itself in the next one, unless it is of the right side.
      if (block < chunk_end) total += columns * (columns - 1) / 2;
    }
  }
  return total;
}

}  // namespace gpu::cuda
