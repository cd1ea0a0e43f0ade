#pragma once
// Prepared rows of one measure: what the sinks of the CPU pair engine draw statistics from. Only
// rows that have a statistic are in it, numbered anew ("packed"), in their original order, and
// stand as row_layout says; tiles are of places there.

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <gpu/index.hpp>
#include <gpu/pair_options.hpp>

#include "cpu/pairs/cpu_pair_way.hpp"
#include "cpu/pairs/loops/kernels.hpp"
#include "cpu/pairs/policy.hpp"
#include "cpu/pairs/rows/input_rows.hpp"
#include "cpu/pairs/rows/row_source.hpp"
#include "cpu/platform/aligned_buffer.hpp"
#include "pairs/engine.hpp"
#include "pairs/measures/measures.hpp"
#include "pairs/observations.hpp"

namespace gpu::cpu {

/// A block of the pair matrix, in places of packed rows, ends exclusive.
struct pair_tile {
  index_t row_begin;
  index_t row_end;
  index_t col_begin;
  index_t col_end;
  [[nodiscard]] index_t rows() const { return row_end - row_begin; }
  [[nodiscard]] index_t cols() const { return col_end - col_begin; }
};

/// Kept pairs, in memory that grows by doubling and is never cleared.
class hit_buffer {
 public:
  [[nodiscard]] std::span<const pair_hit> hits() const { return {data_.data(), size_}; }
  void clear() { size_ = 0; }
  /// Room for `more` hits behind those that are there; of them `add` says how many were written.
  [[nodiscard]] pair_hit* room_for(index_t more);
  void add(index_t count) { size_ += static_cast<std::size_t>(count); }
  /// Leaves of the hits from `first` on those that `keeps`.
  template <class Keeps>
  void filter(std::size_t first, const Keeps& keeps) {
    pair_hit* const end = data_.data() + size_;
    pair_hit* const kept =
        std::remove_if(data_.data() + first, end, [&](const pair_hit& hit) { return !keeps(hit); });
    size_ -= static_cast<std::size_t>(end - kept);
  }
  void push(const pair_hit& hit) {
    *room_for(1) = hit;
    ++size_;
  }

 private:
  aligned_buffer<pair_hit> data_;
  std::size_t size_ = 0;
};

/// Scratch memory of one thread.
struct pair_scratch {
  aligned_buffer<double> statistics;  // pair_policy::block_rows x block_cols
  aligned_buffer<std::byte> kernel;   // of the size that the rows ask for
  explicit pair_scratch(std::size_t kernel_bytes);
};

/// Where kept pairs are counted by their statistic, unless `count` is 0.
struct pair_bins {
  index_t count = 0;
  std::uint64_t* histogram = nullptr;
};

/// Receives a pair of a tile, row and column counted from its first.
struct pair_visitor {
  void (*take)(void* context, index_t row, index_t col, double statistic) = nullptr;
  void* context = nullptr;
};

/// What a sink is going to ask of the rows.
struct pair_task {
  enum class output { statistics, above, matches, counts };
  output wanted = output::statistics;
  detail::keep_range keep = {};  // of matches and counts
  index_t bins = 0;              // of counts
  // Of rows with missing values: what is kept of pairs of each number of shared columns; p of them,
  // which then stands for the statistic. Null: neither.
  const detail::observation_cuts* cuts = nullptr;
  const detail::observation_tests* tests = nullptr;
  // Where p depends on the ties of a pair, likewise.
  const detail::tied_cut* tied = nullptr;
  detail::tied_bins tied_tests = {};
};

class pair_rows {
 public:
  virtual ~pair_rows() = default;

  /// Number of places.
  [[nodiscard]] virtual index_t size() const = 0;
  /// Scratch bytes that one thread needs beside the statistics.
  [[nodiscard]] virtual std::size_t kernel_bytes() const { return 0; }

  /// Makes ready what the calls below need for `task`. To be called before them, by one thread.
  virtual void prepare(const pair_task& /*task*/) {}
  /// What a sample of the pairs says about the cut prepared for; empty without a sample.
  [[nodiscard]] virtual pair_estimate estimate() const { return {}; }
  /// How pairs of the cut prepared for are found, and why, in words.
  [[nodiscard]] virtual std::string explain() const {
    return "every pair is decided: this variant has no other way";
  }
  /// Takes the next way where the tiles so far turned out otherwise than prepare() expected. To be
  /// called by one thread, between tiles.
  virtual void reconsider() {}

  /// The statistic of every pair of `tile` (at most block_rows x block_cols), also of those with
  /// row >= col, to out[(row - row_begin) * block_cols + (col - col_begin)].
  virtual void statistics(const pair_tile& tile, pair_scratch& scratch, double* out) const = 0;

  /// The same of those with row < col; what it writes for the others is not said.
  virtual void upper_statistics(const pair_tile& tile, pair_scratch& scratch, double* out) const {
    statistics(tile, scratch, out);
  }

  /// Whether `above` is quicker than all statistics.
  [[nodiscard]] virtual bool finds_above() const { return false; }
  /// Visits at least the pairs of `tile`, also those with row >= col, whose statistic, or its
  /// magnitude, is above the bar of their row; columns ascend within each row.
  virtual void above(const pair_tile& /*tile*/, const double* /*bars*/, bool /*by_magnitude*/,
                     pair_scratch& /*scratch*/, const pair_visitor& /*visit*/) const {}

  /// Appends the kept pairs of `tile` with row < col; columns ascend within each row. `keep` is
  /// that of prepare(), here and below.
  virtual void matches(const pair_tile& tile, const detail::keep_range& keep, pair_scratch& scratch,
                       hit_buffer& out) const;

  /// The row that stands at each place of the order in which `count` takes rows; empty where they
  /// stay as they are.
  [[nodiscard]] virtual std::span<const node_id> count_order() const { return {}; }
  /// Adds the kept pairs of `tile` with row < col to the degrees of its rows [padded], of its
  /// columns [padded], and to the bins; returns their number.
  virtual std::uint64_t count(const pair_tile& tile, const detail::keep_range& keep,
                              pair_scratch& scratch, std::uint32_t* row_degree,
                              std::uint32_t* col_degree, const pair_bins& bins) const;
};

/// Calls body(block) for the blocks of `tile`; columns ascend within rows.
template <class Body>
void for_each_block(const pair_tile& tile, const Body& body) {
  for (index_t i = tile.row_begin; i < tile.row_end; i += pair_policy::block_rows) {
    for (index_t j = tile.col_begin; j < tile.col_end; j += pair_policy::block_cols) {
      body(pair_tile{.row_begin = i,
                     .row_end = std::min(i + pair_policy::block_rows, tile.row_end),
                     .col_begin = j,
                     .col_end = std::min(j + pair_policy::block_cols, tile.col_end)});
    }
  }
}

/// Calls body(block, statistics of the block) for them.
template <class Body>
void for_each_block(const pair_rows& rows, const pair_tile& tile, pair_scratch& scratch,
                    const Body& body) {
  for_each_block(tile, [&](const pair_tile& block) {
    rows.statistics(block, scratch, scratch.statistics.data());
    body(block, static_cast<const double*>(scratch.statistics.data()));
  });
}

/// The same with the statistics above the diagonal alone.
template <class Body>
void for_each_block_above(const pair_rows& rows, const pair_tile& tile, pair_scratch& scratch,
                          const Body& body) {
  for_each_block(tile, [&](const pair_tile& block) {
    rows.upper_statistics(block, scratch, scratch.statistics.data());
    body(block, static_cast<const double*>(scratch.statistics.data()));
  });
}

/// Calls body(block) for the blocks of `tile` that reach above the diagonal, without the whole
/// groups of columns below it; columns ascend within rows.
template <class Body>
void for_each_upper_block(const pair_tile& tile, const Body& body) {
  constexpr index_t step = pair_policy::window_step;
  for (index_t i = tile.row_begin; i < tile.row_end; i += pair_policy::block_rows) {
    pair_tile upper = tile;
    upper.row_begin = i;
    upper.row_end = std::min(i + pair_policy::block_rows, tile.row_end);
    upper.col_begin = std::max(tile.col_begin, (i + 1) / step * step);
    if (upper.col_begin < upper.col_end) for_each_block(upper, body);
  }
}

/// First column of `tile` that is above the diagonal in `row`.
inline index_t first_upper_column(const pair_tile& tile, index_t row) {
  return std::max(tile.col_begin, row + 1);
}

/// Rows and what was found out about them.
struct row_preparation {
  std::unique_ptr<pair_rows> rows;
  std::vector<node_id> original;  // [places] -> row of the input
  /// In place of both where rows are packed in windows.
  std::unique_ptr<row_source> source;
  std::vector<index_t> constant_rows;
  std::vector<index_t> nan_rows;
  std::vector<index_t> section_rows;  // packed rows of each section
  /// Where rows were folded: `rows` are these patterns, and `original` numbers them.
  std::optional<row_patterns> patterns;
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
  nan_policy nans;            ///< Whether a NaN ends the call or leaves its row out.
  /// Of rows with missing values: columns that a pair must share.
  index_t min_observations = 0;
  row_selection selection;  ///< Which rows are packed.
  int threads;
  index_t piece_rows;  ///< In windows: input rows that are prepared at a time on the way there.
};

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
