#pragma once
// The CPU pair engine: walks the pairs of an area in panels of tiles and feeds the sinks.
//
// A *window* is what is packed at a time: two ranges of rows, one behind the other, whose pairs
// across are computed; or one range and its own upper triangle. Rows that memory holds are one
// window: of a table one range, of x against y the two. Otherwise the ranges
// are packed two at a time, until each has met each. Packing a row takes as long as computing some
// thousands of pairs, so half a window is made large enough to repay it. Packed rows are the rows
// of the area's tables that have a statistic, numbered consecutively. The places of a window, which
// tiles are ranges of, count from its first row (row_layout).

#include <atomic>
#include <chrono>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gpu/execution.hpp>

#include "base/parallel.hpp"
#include "cpu/pairs/memory.hpp"
#include "cpu/pairs/rows/pair_rows.hpp"
#include "pairs/engine.hpp"
#include "pairs/progress.hpp"

namespace gpu::cpu {

class cpu_engine final : public detail::pair_engine {
 public:
  cpu_engine(const detail::measure_traits& what, const detail::pair_input& input);

  [[nodiscard]] const detail::row_info& rows() const override { return info_; }
  /// What rows() were folded from, to be taken once.
  [[nodiscard]] std::optional<detail::folded_rows> take_folded() {
    return std::exchange(folded_, std::nullopt);
  }
  [[nodiscard]] std::string device() const override;
  [[nodiscard]] pair_variant variant() const override { return variant_; }

  void dense(matrix_view<double> out) override;
  void dense(matrix_view<float> out) override;
  /// How edges() would find the pairs of `keep`, and why, in words.
  [[nodiscard]] std::string explain_edges(const detail::keep_range& keep);
  void edges(const detail::edge_request& request, detail::edge_receiver& receiver) override;
  void top_k(const detail::top_k_request& request, neighbor_table& out) override;
  void counts(const detail::count_request& request, pair_counts& out) override;
  [[nodiscard]] detail::bin_counts bin_statistics(const detail::bin_request& request) override;
  void connectivity(const detail::connectivity_request& request, matrix_view<double> out) override;

 private:
  template <class Value>
  void fill_dense(matrix_view<Value> out);
  template <class Value>
  void fill_dense_area(matrix_view<Value> out);
  template <class Value>
  void store_block(const pair_tile& block, const double* statistics, matrix_view<Value> out) const;
  // count() of a search for matches, each kept pair with the weights of its rows.
  std::uint64_t count_weighted(const pair_search& search, const pair_tile& tile,
                               std::span<const std::uint32_t> weights, pair_scratch& scratch,
                               std::uint32_t* row_degree, std::uint32_t* col_degree,
                               const pair_bins& bins) const;
  template <class Value>
  void mirror_block(const pair_tile& block, const double* statistics, matrix_view<Value> out) const;

  // connectivity(): adds to the sums of the rows of a panel, and stores sums that are complete.
  void sum_panel(pair_search& search, const detail::connectivity_request& request,
                 const pair_tile& panel, double* sums);
  void store_connectivity(const detail::connectivity_request& request, const pair_tile& panel,
                          const double* sums, matrix_view<double> out) const;

  // Takes over what was prepared.
  void take_rows(const detail::pair_input& input, const row_selection& selection,
                 const pair_memory& memory, row_preparation found);
  // The rows become those of the patterns.
  void fold_into(detail::row_patterns patterns);
  // Packed rows of all windows.
  [[nodiscard]] index_t size() const { return size_; }
  // Packed rows that are rows of the area, and those that are its columns.
  [[nodiscard]] const row_range& area_rows() const { return area_rows_; }
  [[nodiscard]] const row_range& area_cols() const { return area_cols_; }
  // Pairs above the diagonal of packed rows `rows` with the columns of the area.
  [[nodiscard]] std::uint64_t pairs_of(row_range rows) const;

  // By places of the window.
  [[nodiscard]] index_t original(index_t place) const {
    return original_[static_cast<std::size_t>(place)];
  }
  [[nodiscard]] index_t packed(index_t place) const {
    return place < first_.size() ? first_.begin + place
                                 : second_.begin + (place - second_begin(first_.size()));
  }
  // The place of the second range behind a first one of so many rows.
  [[nodiscard]] index_t second_begin(index_t first) const {
    return row_layout::second_begin(first, group_);
  }
  [[nodiscard]] index_t window_size() const { return static_cast<index_t>(original_.size()); }
  // Columns that a row of the window meets, at most.
  [[nodiscard]] index_t window_cols() const {
    return second_.is_empty() ? first_.size() : second_.size();
  }
  // The row or the column of a result, as sinks number them.
  [[nodiscard]] index_t result_row(index_t place) const { return original(place) - row_base_; }
  [[nodiscard]] index_t result_col(index_t place) const { return original(place) - col_base_; }
  [[nodiscard]] index_t panel_rows() const;
  // Rows of the panel that begins at `begin`.
  [[nodiscard]] index_t panel_rows_at(index_t begin) const;

  // Packs a window; the places `asked` are those of rows of the area.
  void load(row_range first, row_range second, row_range asked);
  // Packs `rows` and, beside them, as many of the columns [begin, end) as fit; the end of those.
  index_t load_beside(row_range rows, index_t begin, index_t end);
  // Rows of a range of the area's rows that is packed at a time.
  [[nodiscard]] index_t range_rows() const;
  // body() for every window, the columns of a range of rows ascending.
  template <class Body>
  void for_each_window(const Body& body);
  // body(tile) for every window: rows of the area and columns of it on both sides of the diagonal,
  // the columns of a row ascending. Where there are many windows, at most `most_rows` rows at a
  // time.
  template <class Body>
  void for_each_meeting(const Body& body, index_t most_rows = std::numeric_limits<index_t>::max());

  // Columns of a tile, `most` at most: so few that there are tiles for all threads.
  [[nodiscard]] index_t shared_task_cols(index_t rows, index_t most) const;
  // The tiles of rows [row_begin, row_end) of the window that reach above the diagonal.
  [[nodiscard]] std::vector<pair_tile> upper_tiles(
      index_t row_begin, index_t row_end, index_t most_cols = pair_policy::task_cols) const;
  // The tiles of `area`: all rows of a strip of columns, then of the next, so that threads that run
  // side by side share the columns they read.
  [[nodiscard]] static std::vector<pair_tile> tiles_of(const pair_tile& area, index_t task_cols);
  // The pairs in the upper tiles of these rows.
  [[nodiscard]] std::uint64_t pairs_in(index_t row_begin, index_t row_end) const;

  // Threads that are worth starting for all pairs: waking one takes some microseconds. The first
  // panels, which are small, have as many.
  [[nodiscard]] int team() const;

  // body(tile, thread) in parallel.
  template <class Body>
  void for_each_tile(const std::vector<pair_tile>& tiles, const Body& body) {
    const auto count = static_cast<index_t>(tiles.size());
    detail::parallel_for(count, team(), [&](index_t index, int thread) {
      body(tiles[static_cast<std::size_t>(index)], thread);
    });
  }

  // for_each_tile over the whole window, panel by panel, with progress.
  template <class Body>
  void for_each_upper_tile(pair_search& search, detail::pair_progress& meter, const Body& body);

  // The search of `task` in the window, until the next search or window.
  pair_search& search(const pair_task& task);

  // edges(): what tiles found, which it puts into the order of the result.
  class collected_hits;
  // edges() of the window, and of many windows in order.
  void edges_of_window(collected_hits& hits, detail::pair_progress& meter);
  void ordered_edges(collected_hits& hits, detail::pair_progress& meter);

  // top_k() of a small table, see neighbors.cpp.
  [[nodiscard]] bool takes_matrix(const detail::top_k_request& request, index_t result_rows);
  void top_k_of_matrix(const detail::top_k_request& request, neighbor_table& out);
  // top_k() of some rows.
  class neighbor_search;
  // top_k() of the rows of `area` among its columns, which go on where `out` has what earlier ones
  // gave.
  void top_k_of_window(const detail::top_k_request& request, const pair_tile& area,
                       detail::pair_progress& meter, neighbor_table& out);
  // Few rows: split the columns among threads.
  void top_k_of_columns(pair_search& pairs, const detail::top_k_request& request,
                        const pair_tile& area, neighbor_table& out);
  // Pairs that progress counts for a sink that computes all of area_rows() x area_cols().
  [[nodiscard]] std::uint64_t meetings() const;
  [[nodiscard]] std::uint64_t meetings_of(const pair_tile& area) const;

  pair_variant variant_;
  int threads_;
  std::size_t panel_edges_ = pair_policy::panel_edges;
  index_t most_matrix_rows_ = 0;
  progress_callback on_progress_;
  detail::row_info info_;
  index_t packed_cols_ = 0;  // elements of a packed row
  std::optional<detail::folded_rows> folded_;
  std::unique_ptr<row_source> source_;        // null where there is one window alone
  index_t half_window_ = 0;                   // rows of a range
  index_t group_ = pair_policy::window_step;  // row_layout::group of the windows
  index_t size_ = 0;
  row_range area_rows_;
  row_range area_cols_;
  bool is_across_ = false;  // x against y
  index_t row_base_ = 0;
  index_t col_base_ = 0;
  // The window.
  row_range first_;
  row_range second_;  // the rows behind it; empty: the pairs within the first
  row_range asked_;   // places of the first range that are rows of the area
  std::unique_ptr<pair_rows> rows_;
  std::unique_ptr<pair_search> search_;  // the last one: what it packed serves the next
  std::vector<node_id> original_;
};

/// Pairs (i, j), i < j < rows, with i in [row_begin, row_end).
std::uint64_t upper_pairs(index_t row_begin, index_t row_end, index_t rows);

template <class Body>
void cpu_engine::for_each_window(const Body& body) {
  if (area_rows_.is_empty()) return;
  if (!source_) return body();
  for (index_t i = area_rows_.begin; i < area_rows_.end; i += range_rows()) {
    const row_range rows{i, std::min(i + range_rows(), area_rows_.end)};
    if (!is_across_) {
      load(rows, {}, {0, rows.size()});
      body();
    }
    for (index_t j = is_across_ ? area_cols_.begin : rows.end; j < area_cols_.end;) {
      j = load_beside(rows, j, area_cols_.end);
      body();
    }
  }
}

template <class Body>
void cpu_engine::for_each_meeting(const Body& body, index_t most_rows) {
  if (area_rows_.is_empty()) return;
  const auto meet = [&] {
    const bool is_one_range = second_.is_empty();
    body(pair_tile{.row_begin = asked_.begin,
                   .row_end = asked_.end,
                   .col_begin = is_one_range ? 0 : second_begin(first_.size()),
                   .col_end = window_size()});
  };
  if (!source_) return meet();
  const index_t step = std::min(range_rows(), most_rows);
  for (index_t i = area_rows_.begin; i < area_rows_.end; i += step) {
    const row_range rows{i, std::min(i + step, area_rows_.end)};
    for (index_t j = area_cols_.begin; j < area_cols_.end;) {
      if (!is_across_ && j == rows.begin) {
        load(rows, {}, {0, rows.size()});
        j = rows.end;
      } else {
        j = load_beside(rows, j, j < rows.begin ? rows.begin : area_cols_.end);
      }
      meet();
    }
  }
}

template <class Body>
void cpu_engine::for_each_upper_tile(pair_search& search, detail::pair_progress& meter,
                                     const Body& body) {
  index_t end = 0;
  for (index_t begin = asked_.begin; begin < asked_.end; begin = end) {
    end = std::min(begin + panel_rows_at(begin), asked_.end);
    for_each_tile(upper_tiles(begin, end), body);
    meter.advance(pairs_in(begin, end));
    search.reconsider();
  }
}

}  // namespace gpu::cpu
