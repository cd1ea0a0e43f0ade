#pragma once
// What is refused of two groups of columns. Each function throws gpu::invalid_argument.

#include <span>

#include <gpu/differential.hpp>
#include <gpu/index.hpp>

namespace gpu::inline v0::detail {

/// At least 4 columns in each group, no column twice, all of them of the table.
void check_groups(const column_groups& groups, index_t cols);

/// Names row and column of the first NaN in the columns of a group of row `row`, whose values are
/// `values`; nothing where there is none.
void refuse_nan(index_t row, std::span<const double> values, std::span<const index_t> columns);

}  // namespace gpu::inline v0::detail
