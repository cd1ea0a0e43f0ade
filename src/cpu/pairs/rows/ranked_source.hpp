#pragma once
// Spearman's rows where they are packed in windows: ranked from the input whenever they are asked
// for, so that no ranks wait.

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include <gpu/matrix_view.hpp>

#include "cpu/pairs/rows/pair_rows.hpp"
#include "cpu/pairs/rows/row_source.hpp"
#include "cpu/platform/aligned_buffer.hpp"

namespace gpu::cpu {

/// Ranks of the rows that have a statistic, in order, with their sums of squares.
template <class Integer>
struct ordinary_ranks {
  index_t stride = 0;
  aligned_buffer<Integer> values;
  std::vector<std::int64_t> square_sums;

  [[nodiscard]] index_t size() const { return static_cast<index_t>(square_sums.size()); }
  [[nodiscard]] const Integer* row(index_t i) const { return values.data() + i * stride; }
};

/// Packs ranks; the first `split` rows and the others meet each other alone, unless they are all.
template <class Integer>
using rank_packer =
    std::function<std::unique_ptr<pair_rows>(ordinary_ranks<Integer> ranks, index_t split)>;

/// Looks at all rows: notes those without a statistic in `found`, whose nan_rows are there, and
/// where that pays the patterns, whose first rows are then those of the source. `data` outlives it.
template <class Integer, class T>
std::unique_ptr<row_source> make_ranked_source(const matrix_view<const T>& data,
                                               const row_options& options,
                                               rank_packer<Integer> pack, row_preparation& found);

}  // namespace gpu::cpu
