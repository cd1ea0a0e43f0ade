#pragma once
// Rows of which every pair is decided, whatever the task: a search of them is the task alone.

#include <cstddef>
#include <memory>
#include <string>

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

}  // namespace gpu::cpu
