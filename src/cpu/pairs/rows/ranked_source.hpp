#pragma once
// Spearman's rows where they are packed in windows: ranked from the input whenever they are needed,
// so that no ranks are held.

#include <algorithm>
#include <cstdint>
#include <functional>
#include <memory>
#include <type_traits>
#include <vector>

#include "base/parallel.hpp"
#include "cpu/pairs/rows/input_rows.hpp"
#include "cpu/pairs/rows/kept_rows.hpp"
#include "cpu/pairs/rows/pair_rows.hpp"
#include "cpu/pairs/rows/row_source.hpp"
#include "cpu/platform/aligned_buffer.hpp"
#include "cpu/rank/centred_ranks.hpp"

namespace gpu::cpu {

/// Ranks of the rows that have a statistic, where they stand, with their sums of squares.
template <class Integer>
struct ordinary_ranks {
  index_t stride = 0;
  aligned_buffer<Integer> values;
  std::vector<std::int64_t> square_sums;

  [[nodiscard]] index_t size() const { return static_cast<index_t>(square_sums.size()); }
  [[nodiscard]] Integer* row(index_t i) { return values.data() + i * stride; }
  [[nodiscard]] const Integer* row(index_t i) const { return values.data() + i * stride; }
  /// Row `from` to row `to` as well.
  void copy_row(index_t from, index_t to) {
    std::copy_n(row(from), stride, row(to));
    square_sums[static_cast<std::size_t>(to)] = square_sums[static_cast<std::size_t>(from)];
  }
};

/// Copies rows without gaps between them.
template <class T>
void copy_rows(const matrix_view<const T>& from, T* to, int threads) {
  constexpr index_t rows_at_once = 8192;
  const index_t length = from.row_stride();
  detail::parallel_for((from.rows() + rows_at_once - 1) / rows_at_once,
                       detail::thread_count(threads), [&](index_t task, int) {
                         const index_t begin = task * rows_at_once;
                         const index_t count = std::min(rows_at_once, from.rows() - begin);
                         std::copy_n(from.row(begin), count * length, to + begin * length);
                       });
}

/// Ranks the rows of `range` to the places from `to` on; those that are kept are copied.
template <class Integer>
void rank_rows_to(const input_rows& input, index_range range, index_t to,
                  ordinary_ranks<Integer>& ranks, int threads) {
  input.for_each_view(
      range, threads, [&]<class T>(const matrix_view<const T>& view, index_t first) {
        const index_t place = to + first - range.begin;
        if constexpr (std::is_same_v<T, Integer>) {
          if (const kept_rows* const kept = input.kept_of(first)) {
            std::copy_n(kept->square_sums.begin() + input.row_of_table(first), view.rows(),
                        ranks.square_sums.begin() + place);
            return copy_rows(view, ranks.row(place), threads);
          }
        }
        centred_ranks(view, matrix_view<Integer>(ranks.row(place), view.rows(), ranks.stride),
                      ranks.square_sums.data() + place, threads);
      });
}

/// Packs ranks.
template <class Integer>
using rank_packer = std::function<std::unique_ptr<pair_rows>(ordinary_ranks<Integer> ranks,
                                                             const row_layout& layout)>;

/// Looks at all rows. Adds rows without a statistic to `found`, which has its nan_rows already. If
/// folding pays, also finds the patterns; the source then has only their first rows.
template <class Integer>
std::unique_ptr<row_source> make_ranked_source(const input_rows& input, const row_options& options,
                                               rank_packer<Integer> pack, row_preparation& found);

}  // namespace gpu::cpu
