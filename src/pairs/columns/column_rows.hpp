#pragma once
// The rows of a table in host memory as a column_model changes them.

#include <gpu/detail/any_view.hpp>

#include "pairs/columns/column_model.hpp"
#include "pairs/reading/computed_rows.hpp"
#include "pairs/reading/host_rows.hpp"

namespace gpu::inline v0::detail {

/// Computes them whenever they are read. The table's data and the model outlive it.
class column_rows final : public computed_rows {
 public:
  column_rows(const any_table& table, const column_model& model)
      : table_(table), rows_(table), model_(model) {}

  [[nodiscard]] computed_view view() const { return {*this, rows_.rows(), rows_.cols()}; }
  [[nodiscard]] const any_table& source() const override { return table_; }
  void compute(index_range range, double* out, int threads) const override;

 private:
  any_table table_;
  host_rows rows_;
  const column_model& model_;
};

}  // namespace gpu::inline v0::detail
