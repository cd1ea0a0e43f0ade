#pragma once
// Rows of ranks where p of a pair is that of permutations unless one of them has ties: a cut for
// each class of pairs.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "cpu/pairs/rows/pair_rows.hpp"
#include "stats/significance/spearman_test.hpp"

namespace gpu::cpu {

/// Rows that others compute. Each pair is held to the cut of its own test. A pair that is
/// dropped has NaN for a statistic; where p is binned, p stands for it.
class tested_rank_rows final : public pair_rows {
 public:
  /// `classes` [places of `rows`]: stats::tie_classes.
  tested_rank_rows(std::unique_ptr<pair_rows> rows, std::vector<std::uint8_t> classes);

  [[nodiscard]] index_t size() const override { return rows_->size(); }
  [[nodiscard]] std::unique_ptr<pair_search> search(
      const pair_task& task, int threads, std::unique_ptr<pair_search> earlier) const override;

  [[nodiscard]] int class_of(index_t i, index_t j) const {
    return std::max(classes_[static_cast<std::size_t>(i)], classes_[static_cast<std::size_t>(j)]);
  }

 private:
  std::unique_ptr<pair_rows> rows_;
  std::vector<std::uint8_t> classes_;
  std::vector<int> different_;  // the classes, each once, ascending; those of pairs are among them
};

}  // namespace gpu::cpu
