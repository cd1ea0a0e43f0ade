#pragma once
// Rows without a filter: every pair is decided, so a search of them is the task alone.

#include <cstddef>
#include <memory>
#include <string>
#include <utility>

#include "cpu/pairs/rows/pair_rows.hpp"

namespace gpu::cpu {

class decided_rows : public pair_rows {
 public:
  [[nodiscard]] std::unique_ptr<pair_search> search(
      const pair_task& task, int threads, std::unique_ptr<pair_search> earlier) const final;

  /// As pair_search::statistics, and what the task wants in place of a statistic.
  virtual void statistics(const pair_task& task, const pair_tile& tile, pair_scratch& scratch,
                          double* out) const = 0;
  /// As of pair_search; what the task drops need not be visited.
  [[nodiscard]] virtual bool finds_above() const { return false; }
  virtual void above(const pair_task& /*task*/, const pair_tile& /*tile*/, const double* /*bars*/,
                     pair_scratch& /*scratch*/, pair_visitor /*visit*/) const {}
  /// As of pair_search.
  [[nodiscard]] virtual std::size_t kernel_bytes() const { return 0; }
  [[nodiscard]] virtual std::string explain() const {
    return "every pair is decided: this variant has no other way";
  }
};

/// Rows for the naive variant: exact(values, i, j), one pair at a time.
template <class Values, class Exact>
class plain_rows final : public decided_rows {
 public:
  plain_rows(Values values, Exact exact) : values_(std::move(values)), exact_(std::move(exact)) {}

  [[nodiscard]] index_t size() const override { return values_.size(); }
  void statistics(const pair_task&, const pair_tile& tile, pair_scratch&,
                  double* out) const override {
    for (index_t i = tile.row_begin; i < tile.row_end; ++i) {
      double* const row = out + (i - tile.row_begin) * pair_policy::block_cols;
      for (index_t j = tile.col_begin; j < tile.col_end; ++j) {
        row[j - tile.col_begin] = exact_(values_, i, j);
      }
    }
  }

 private:
  Values values_;
  Exact exact_;
};

template <class Values, class Exact>
std::unique_ptr<pair_rows> make_plain_rows(Values values, Exact exact) {
  return std::make_unique<plain_rows<Values, Exact>>(std::move(values), std::move(exact));
}

}  // namespace gpu::cpu
