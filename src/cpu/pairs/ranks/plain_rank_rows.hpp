#pragma once
// The naive variant of Spearman on the CPU.

#include <cstdint>
#include <utility>

#include "cpu/pairs/rows/decided_rows.hpp"
#include "cpu/pairs/rows/ordinary_ranks.hpp"
#include "stats/statistic.hpp"

namespace gpu::cpu {

/// One pair at a time, in 64 bits.
template <class Integer>
class plain_rank_rows final : public decided_rows {
 public:
  explicit plain_rank_rows(ordinary_ranks<Integer> ranks) : ranks_(std::move(ranks)) {}

  [[nodiscard]] index_t size() const override { return ranks_.size(); }

  void statistics(const pair_task&, const pair_tile& tile, pair_scratch&,
                  double* out) const override {
    for (index_t i = tile.row_begin; i < tile.row_end; ++i) {
      double* row = out + (i - tile.row_begin) * pair_policy::block_cols;
      for (index_t j = tile.col_begin; j < tile.col_end; ++j) {
        row[j - tile.col_begin] = detail::rho_of(dot(i, j), square_sum(i), square_sum(j));
      }
    }
  }

 private:
  [[nodiscard]] std::int64_t square_sum(index_t i) const {
    return ranks_.square_sums[static_cast<std::size_t>(i)];
  }
  [[nodiscard]] std::int64_t dot(index_t i, index_t j) const {
    const Integer* x = ranks_.row(i);
    const Integer* y = ranks_.row(j);
    std::int64_t sum = 0;
    for (index_t k = 0; k < ranks_.stride; ++k) sum += std::int64_t{x[k]} * y[k];
    return sum;
  }

  ordinary_ranks<Integer> ranks_;
};

}  // namespace gpu::cpu
