#pragma once
// All pairs of rows from all pairs of patterns: an engine around one whose rows were folded. What
// it gives is what the rows themselves would give, bit for bit: rows of a pattern have the same
// ranks, so a pair of rows has the statistic of the pair of their patterns, and exactly 1 within a
// pattern (S / sqrt(S S) is 1 in IEEE arithmetic).
//
// A pattern never crosses a boundary of the area: rows of x are folded among themselves, and so are
// those of a part of a table. So the patterns of the area's rows are a range.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "pairs/engine.hpp"

namespace gpu::inline v0::detail {

class folded_pair_engine final : public pair_engine {
 public:
  /// `inner` is of `area`, and its rows are the patterns of `folded`.
  folded_pair_engine(std::unique_ptr<pair_engine> inner, folded_rows folded, const pair_area& area,
                     const execution& exec);

  /// The engine of the patterns.
  [[nodiscard]] pair_engine& inner() { return *inner_; }
  [[nodiscard]] const row_patterns& patterns() const { return folded_.patterns; }
  [[nodiscard]] const row_info& rows() const override { return folded_.input; }
  [[nodiscard]] std::string device() const override { return inner_->device(); }
  [[nodiscard]] pair_variant variant() const override { return inner_->variant(); }

  void dense(matrix_view<double> out) override;
  void dense(matrix_view<float> out) override;
  void edges(const edge_request& request, edge_receiver& receiver) override;
  void top_k(const top_k_request& request, neighbor_table& out) override;
  void counts(const count_request& request, pair_counts& out) override;
  [[nodiscard]] bin_counts bin_statistics(const bin_request& request) override;
  /// gpu::unsupported: rows are not folded for it.
  void connectivity(const connectivity_request& request, matrix_view<double> out) override;

 private:
  class ordered_edges;

  template <class Value>
  void spread_dense(matrix_view<Value> out);
  void edges_as_found(const edge_request& request, edge_receiver& receiver);

  // Whether the area has pairs of rows within a pattern.
  [[nodiscard]] bool has_pairs_within(node_id pattern) const {
    return !area_.is_against() && pattern_rows_.holds(pattern);
  }
  [[nodiscard]] std::uint64_t pairs_within(node_id pattern) const {
    const std::uint64_t weight = weights_[pattern];
    return has_pairs_within(pattern) ? weight * (weight - 1) / 2 : 0;
  }
  // The pattern that inner_ calls column `col`.
  [[nodiscard]] node_id pattern_of_col(node_id col) const {
    return static_cast<node_id>(pattern_cols_.begin + col);
  }
  // The column of a result that a row of the area's columns is.
  [[nodiscard]] node_id col_of(node_id row) const {
    return static_cast<node_id>(row - area_.cols.begin);
  }

  // Pairs of rows of two patterns.
  [[nodiscard]] std::uint64_t pairs_between(node_id first, node_id second) const {
    return std::uint64_t{weights_[first]} * weights_[second];
  }

  std::unique_ptr<pair_engine> inner_;
  folded_rows folded_;
  pair_area area_;
  index_range pattern_rows_;  // the patterns of the area's rows
  index_range pattern_cols_;  // and of its columns
  int threads_;
  std::size_t most_waiting_;  // edges between patterns that may wait to be put in order
  std::vector<std::uint32_t> weights_;
  std::uint64_t pairs_within_ = 0;  // of all patterns
};

}  // namespace gpu::inline v0::detail
