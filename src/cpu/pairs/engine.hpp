#pragma once
// The CPU pair engine: walks the upper triangle in panels of tiles and feeds the sinks.
//
// Rows that memory holds are packed once. Of more rows a *window* is packed at a time: two ranges
// of rows, one behind the other, whose pairs across are computed; or one range and its own upper
// triangle. Rows of a window are numbered from its first. Every two ranges meet in one window, so
// that packing a row, which takes as long as some thousands of pairs, serves half a window of them.

#include <atomic>
#include <chrono>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include <gpu/execution.hpp>

#include "base/parallel.hpp"
#include "cpu/pairs/rows/pair_rows.hpp"
#include "pairs/engine.hpp"
#include "pairs/progress.hpp"

namespace gpu::cpu {

class pair_engine final : public detail::pair_engine {
 public:
  pair_engine(detail::measure what, const detail::any_matrix_view& data,
              const pair_options& options);

  [[nodiscard]] const detail::prepared_rows& rows() const override { return info_; }
  [[nodiscard]] const detail::folded_rows* folded() const override {
    return folded_ ? &*folded_ : nullptr;
  }
  [[nodiscard]] std::string device() const override;
  [[nodiscard]] pair_variant variant() const override { return variant_; }

  void dense(matrix_view<double> out) override;
  void dense(matrix_view<float> out) override;
  [[nodiscard]] bool fills_p() const override { return true; }
  [[nodiscard]] std::string explain_edges(const detail::keep_range& keep) override;
  void edges(const detail::edge_request& request, const detail::edge_receiver& receive) override;
  void top_k(const detail::top_k_request& request, neighbor_table& out) override;
  void counts(const detail::count_request& request, pair_counts& out) override;
  [[nodiscard]] detail::bin_counts bin_statistics(const detail::bin_request& request) override;

 private:
  template <class Value>
  void fill_dense(matrix_view<Value> out);
  // count() of the rows, each kept pair with the weights of its rows.
  std::uint64_t count_weighted(const pair_tile& tile, const detail::count_request& request,
                               pair_scratch& scratch, std::uint32_t* row_degree,
                               std::uint32_t* col_degree, const pair_bins& bins) const;
  template <class Value>
  void mirror_block(const pair_tile& block, const double* statistics, matrix_view<Value> out) const;

  // The rows become those of the patterns.
  void fold_into(row_patterns patterns);
  // Packed rows of all windows.
  [[nodiscard]] index_t size() const { return size_; }
  // By rows of the window.
  [[nodiscard]] index_t original(index_t row) const {
    return original_[static_cast<std::size_t>(row)];
  }
  [[nodiscard]] index_t packed(index_t row) const {
    return row < first_.size() ? first_.begin + row : second_.begin + (row - first_.size());
  }
  [[nodiscard]] index_t window_size() const { return first_.size() + second_.size(); }
  [[nodiscard]] index_t panel_rows() const;

  // Packs a window.
  void load(row_range first, row_range second);
  // body() for every window, the columns of a range of rows ascending.
  template <class Body>
  void for_each_window(const Body& body);

  // The tiles of rows [row_begin, row_end) of the window that reach above the diagonal: all rows of
  // a strip of columns, then of the next.
  [[nodiscard]] std::vector<pair_tile> upper_tiles(
      index_t row_begin, index_t row_end, index_t task_cols = pair_policy::task_cols) const;
  // The pairs in them.
  [[nodiscard]] std::uint64_t pairs_in(index_t row_begin, index_t row_end) const;

  // Threads that pay for `tiles`: waking one costs as much as some microseconds of work.
  [[nodiscard]] int team_for(const std::vector<pair_tile>& tiles) const;

  // body(tile, thread) in parallel.
  template <class Body>
  void for_each_tile(const std::vector<pair_tile>& tiles, const Body& body) {
    const auto count = static_cast<index_t>(tiles.size());
    parallel_for(count, team_for(tiles), [&](index_t index, int thread) {
      body(tiles[static_cast<std::size_t>(index)], thread);
    });
  }

  // for_each_tile over the whole window, panel by panel, with progress.
  template <class Body>
  void for_each_upper_tile(detail::pair_progress& meter, const Body& body);

  [[nodiscard]] pair_scratch& scratch(int thread) {
    auto& slot = scratch_[static_cast<std::size_t>(thread)];
    if (!slot) slot = std::make_unique<pair_scratch>(rows_->kernel_bytes());
    return *slot;
  }

  // edges(): puts what tiles found into the order of the result.
  class edge_writer;
  // edges() of the window, and of many windows in order.
  void edges_of_window(edge_writer& writer, detail::pair_progress& meter);
  void ordered_edges(edge_writer& writer, detail::pair_progress& meter);

  // top_k() of some rows.
  class neighbor_search;
  // top_k() of the rows of `area` among its columns; `resumes` what `out` has of earlier ones.
  void top_k_of_window(const detail::top_k_request& request, const pair_tile& area, bool resumes,
                       detail::pair_progress& meter, neighbor_table& out);

  pair_variant variant_;
  int threads_;
  std::size_t panel_edges_ = pair_policy::panel_edges;
  progress_callback on_progress_;
  detail::prepared_rows info_;
  std::optional<detail::folded_rows> folded_;
  std::unique_ptr<row_source> source_;  // null where there is one window alone
  index_t half_window_ = 0;             // rows of a range
  index_t size_ = 0;
  // The window.
  row_range first_;
  row_range second_;  // the rows behind it; empty: the pairs within the first
  std::unique_ptr<pair_rows> rows_;
  std::vector<node_id> original_;

  std::vector<std::unique_ptr<pair_scratch>> scratch_;
};

/// Pairs (i, j), i < j < rows, with i in [row_begin, row_end).
std::uint64_t upper_pairs(index_t row_begin, index_t row_end, index_t rows);

template <class Body>
void pair_engine::for_each_window(const Body& body) {
  if (!source_) return body();
  for (index_t i = 0; i < size_; i += half_window_) {
    const row_range rows{i, std::min(i + half_window_, size_)};
    load(rows, {});
    body();
    for (index_t j = rows.end; j < size_; j += half_window_) {
      load(rows, {j, std::min(j + half_window_, size_)});
      body();
    }
  }
}

template <class Body>
void pair_engine::for_each_upper_tile(detail::pair_progress& meter, const Body& body) {
  index_t end = 0;
  for (index_t begin = 0; begin < first_.size(); begin = end) {
    end = std::min(
        begin + (begin == 0 ? std::min(pair_policy::first_panel_rows, panel_rows()) : panel_rows()),
        first_.size());
    for_each_tile(upper_tiles(begin, end), body);
    meter.advance(pairs_in(begin, end));
    rows_->reconsider();
  }
}

}  // namespace gpu::cpu
