#pragma once
// Rows of ranks where p of a pair is that of permutations unless one of them has ties: two cuts in
// place of one.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "cpu/pairs/rows/pair_rows.hpp"
#include "stats/significance/spearman_test.hpp"

namespace gpu::cpu {

/// Rows that others compute, of which each pair is held to the cut of its own test. A pair that is
/// dropped has NaN for a statistic; where p is binned, p stands for it.
class tested_rank_rows final : public pair_rows {
 public:
  /// `has_ties` [places of `rows`].
  tested_rank_rows(std::unique_ptr<pair_rows> rows, std::vector<std::uint8_t> has_ties);

  [[nodiscard]] index_t size() const override { return rows_->size(); }
  [[nodiscard]] std::size_t kernel_bytes() const override { return rows_->kernel_bytes(); }
  void prepare(const pair_task& task) override;
  [[nodiscard]] pair_estimate estimate() const override { return rows_->estimate(); }
  [[nodiscard]] std::string explain() const override { return rows_->explain(); }
  void reconsider() override { rows_->reconsider(); }
  void statistics(const pair_tile& tile, pair_scratch& scratch, double* out) const override;
  [[nodiscard]] bool finds_above() const override { return rows_->finds_above(); }
  void above(const pair_tile& tile, const double* bars, bool by_magnitude, pair_scratch& scratch,
             const pair_visitor& visit) const override;
  void matches(const pair_tile& tile, const detail::keep_range& keep, pair_scratch& scratch,
               hit_buffer& out) const override;
  [[nodiscard]] std::span<const node_id> count_order() const override;
  std::uint64_t count(const pair_tile& tile, const detail::keep_range& keep, pair_scratch& scratch,
                      std::uint32_t* row_degree, std::uint32_t* col_degree,
                      const pair_bins& bins) const override;

 private:
  [[nodiscard]] stats::rank_test test_of(index_t i, index_t j) const {
    const int ties =
        has_ties_[static_cast<std::size_t>(i)] | has_ties_[static_cast<std::size_t>(j)];
    return ties == 0 ? stats::rank_test::permutations : stats::rank_test::student_t;
  }
  [[nodiscard]] bool keeps(index_t i, index_t j, double rho) const {
    return task_.tied->ranks.of(test_of(i, j)).keeps(rho);
  }
  // What stands for the statistic of a pair.
  [[nodiscard]] double taken(index_t i, index_t j, double rho) const;
  // Whether one cut holds for all pairs.
  [[nodiscard]] bool counts_by_one_cut() const {
    return task_.tied != nullptr && is_uniform_ && task_.wanted == pair_task::output::counts;
  }

  std::unique_ptr<pair_rows> rows_;
  std::vector<std::uint8_t> has_ties_;
  bool is_uniform_;  // whether all rows have ties, or none
  pair_task task_;
  detail::keep_range widest_{0.0, 0.0};  // what either cut keeps
};

}  // namespace gpu::cpu
