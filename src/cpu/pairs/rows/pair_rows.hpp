#pragma once
// Prepared rows of one measure. Only rows that have a statistic are in it, numbered anew
// ("packed"), in their original order, and stand as row_layout says.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include <gpu/index.hpp>
#include <gpu/pair_options.hpp>

#include "cpu/pairs/rows/input_rows.hpp"
#include "cpu/pairs/rows/pair_search.hpp"
#include "cpu/pairs/rows/row_source.hpp"
#include "pairs/folding/equal_rows.hpp"
#include "pairs/measures/measures.hpp"

namespace gpu::cpu {

/// Rows of one measure, made ready to be multiplied. They do not change once they are made: any
/// number of searches, of several threads too, may read them at the same time.
class pair_rows {
 public:
  pair_rows() = default;
  pair_rows(const pair_rows&) = delete;
  pair_rows& operator=(const pair_rows&) = delete;
  virtual ~pair_rows() = default;

  /// Number of places.
  [[nodiscard]] virtual index_t size() const = 0;
  /// A search of these rows, which outlive it, by `threads` threads. What `earlier`, a search of
  /// the same rows that ends with that, has packed and sampled goes on in it; null: nothing.
  [[nodiscard]] virtual std::unique_ptr<pair_search> search(
      const pair_task& task, int threads, std::unique_ptr<pair_search> earlier) const = 0;
};

/// Rows and what was found out about them.
struct row_preparation {
  std::unique_ptr<pair_rows> rows;
  std::vector<node_id> original;  // [places] -> row of the input
  /// Instead of both where rows are packed in windows.
  std::unique_ptr<row_source> source;
  std::vector<index_t> constant_rows;
  std::vector<index_t> nan_rows;
  std::vector<index_t> section_rows;  // packed rows of each section
  /// Where rows were folded: `rows` are these patterns, and `original` numbers them.
  std::optional<detail::row_patterns> patterns;
};

/// Looks at the rows of an input in order, once `found` knows those with NaN.
class row_inspector {
 public:
  explicit row_inspector(row_preparation& found)
      : found_(found), next_nan_(found.nan_rows.begin()) {}

  /// Whether `row` is packed; notes it in `found` where it is without NaN and has no statistic.
  bool admits(index_t row, bool has_statistic) {
    if (next_nan_ != found_.nan_rows.end() && *next_nan_ == row) {
      ++next_nan_;
      return false;
    }
    if (!has_statistic) found_.constant_rows.push_back(row);
    return has_statistic;
  }

  /// Looks at the rows of `range`; take(row) for those that have a statistic of `what` and are
  /// packed.
  template <class Take>
  void look_at(const input_rows& input, index_range range, const detail::measure_traits& what,
               int threads, const Take& take) {
    constexpr index_t rows_at_once = index_t{1} << 20;
    for (index_t begin = range.begin; begin < range.end; begin += rows_at_once) {
      const index_range some{begin, std::min(range.end, begin + rows_at_once)};
      const std::vector<std::uint8_t> has = input.with_statistic(some, what, threads);
      for (index_t i = 0; i < some.size(); ++i) {
        if (admits(some.begin + i, has[static_cast<std::size_t>(i)] != 0)) take(some.begin + i);
      }
    }
  }

 private:
  row_preparation& found_;
  std::vector<index_t>::const_iterator next_nan_;
};

/// The layout of the rows that are packed first: the selected sections one after the other.
row_layout layout_of(const row_selection& selection, const std::vector<index_t>& section_rows);

/// How rows are prepared.
struct row_options {
  const detail::measure_traits& what;
  pair_variant variant;
  bool in_windows;            ///< Whether they are only looked at, and packed by a source.
  bool looks_for_patterns;    ///< Whether rows of equal ranks are looked for.
  double most_pattern_share;  ///< Patterns per row up to which they are folded.
  bool refuses_nan;           ///< Whether a NaN ends the call or leaves its row out.
  /// Of rows with missing values: what may be kept of rows for each mask, in all.
  std::size_t mask_bytes = 0;
  row_selection selection;  ///< Which rows are packed.
  index_t group;            ///< row_layout::group of what is packed.
  int threads;
  index_t piece_rows;  ///< In windows: input rows that are prepared at a time on the way there.

  /// The selected sections; so many rows of them are packed.
  [[nodiscard]] detail::fold_sections sections(const std::vector<index_t>& section_rows) const {
    return {section_rows, selection.rows_section, selection.is_across, most_pattern_share};
  }
};

/// Bytes that a thread takes for sums of doubles of rows of the measure; `cols` of the input.
std::size_t double_scratch_bytes(const detail::measure_traits& what, index_t cols);

/// Packs the selected rows in the form of the measure, or gives their source. The tables' data
/// outlives it.
row_preparation prepare_rows(const detail::pair_tables& tables, const row_options& options);
row_preparation prepare_rank_rows(const detail::pair_tables& tables, const row_options& options);
row_preparation prepare_unit_rows(const detail::pair_tables& tables, const row_options& options);
row_preparation prepare_pairwise_rows(const detail::pair_tables& tables,
                                      const row_options& options);

class kept_rows;
/// Fill values, view and what goes with them.
void keep_rows(const input_rows& input, const detail::measure_traits& what, pair_variant variant,
               int threads, kept_rows& out);
void keep_rank_rows(const input_rows& input, pair_variant variant, int threads, kept_rows& out);
void keep_unit_rows(const input_rows& input, const detail::measure_traits& what, int threads,
                    kept_rows& out);

}  // namespace gpu::cpu
