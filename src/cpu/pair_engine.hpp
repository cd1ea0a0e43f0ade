#pragma once
// The CPU pair engine: walks the upper triangle in panels of tiles and feeds the sinks.

#include <atomic>
#include <chrono>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include <gpu/execution.hpp>

#include "cpu/pair_rows.hpp"
#include "cpu/parallel.hpp"
#include "plan/pair_engine.hpp"
#include "plan/pair_progress.hpp"

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
  [[nodiscard]] index_t size() const { return rows_->size(); }
  [[nodiscard]] index_t original(index_t packed) const {
    return original_[static_cast<std::size_t>(packed)];
  }
  [[nodiscard]] index_t panel_rows() const;

  // The tiles of rows [row_begin, row_end) that reach above the diagonal, in columns
  // [col_begin, size()): all columns of the first row block, then of the next.
  [[nodiscard]] std::vector<pair_tile> upper_tiles(index_t row_begin, index_t row_end) const;

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

  // for_each_tile over the whole upper triangle, panel by panel, with progress.
  template <class Body>
  void for_each_upper_tile(std::string_view stage, const Body& body);

  [[nodiscard]] pair_scratch& scratch(int thread) {
    auto& slot = scratch_[static_cast<std::size_t>(thread)];
    if (!slot) slot = std::make_unique<pair_scratch>(rows_->kernel_bytes());
    return *slot;
  }

  // edges() in one place: sorts what the tiles of a panel found into the order of the result.
  class edge_writer;

  // top_k() of some rows.
  class neighbor_search;

  pair_variant variant_;
  int threads_;
  std::size_t panel_edges_ = pair_policy::panel_edges;
  progress_callback on_progress_;
  detail::prepared_rows info_;
  std::optional<detail::folded_rows> folded_;
  std::unique_ptr<pair_rows> rows_;
  std::vector<node_id> original_;
  std::vector<std::unique_ptr<pair_scratch>> scratch_;
};

/// Pairs (i, j), i < j < rows, with i in [row_begin, row_end).
std::uint64_t upper_pairs(index_t row_begin, index_t row_end, index_t rows);

template <class Body>
void pair_engine::for_each_upper_tile(std::string_view stage, const Body& body) {
  detail::pair_progress meter(on_progress_, stage, upper_pairs(0, size(), size()));
  const index_t step = panel_rows();
  for (index_t begin = 0; begin < size(); begin += step) {
    const index_t end = std::min(begin + step, size());
    for_each_tile(upper_tiles(begin, end), body);
    meter.advance(upper_pairs(begin, end, size()));
  }
  meter.finish();
}

}  // namespace gpu::cpu
