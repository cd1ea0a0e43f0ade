#pragma once
// Rows of ranks where p of a pair is that of permutations unless one of them has ties: two cuts in
// place of one.

#include <cstddef>
#include <cstdint>
#include <memory>
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
  [[nodiscard]] std::unique_ptr<pair_search> search(
      const pair_task& task, int threads, std::unique_ptr<pair_search> earlier) const override;

  [[nodiscard]] stats::rank_test test_of(index_t i, index_t j) const {
    const int ties =
        has_ties_[static_cast<std::size_t>(i)] | has_ties_[static_cast<std::size_t>(j)];
    return ties == 0 ? stats::rank_test::permutations : stats::rank_test::student_t;
  }
  /// Whether all rows have ties, or none: one cut holds for all pairs.
  [[nodiscard]] bool is_uniform() const { return is_uniform_; }

 private:
  std::unique_ptr<pair_rows> rows_;
  std::vector<std::uint8_t> has_ties_;
  bool is_uniform_;
};

}  // namespace gpu::cpu
