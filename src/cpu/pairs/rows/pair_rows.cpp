#include "cpu/pairs/rows/pair_rows.hpp"

#include <numeric>

namespace gpu::cpu {

row_layout layout_of(const row_selection& selection, const std::vector<index_t>& section_rows) {
  const auto rows_before = [&](std::size_t section) {
    return std::accumulate(section_rows.begin(),
                           section_rows.begin() + static_cast<std::ptrdiff_t>(section), index_t{0});
  };
  const std::size_t own = selection.rows_section;
  row_layout out{.first = rows_before(section_rows.size()),
                 .asked = {rows_before(own), rows_before(own + 1)}};
  if (selection.is_across) {
    out.first = section_rows.front();
    out.second = section_rows.back();
    if (out.second == 0) out.asked = {};
  }
  return out;
}

}  // namespace gpu::cpu
