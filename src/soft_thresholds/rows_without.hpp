#pragma once
// Rows that have no connectivity.

#include <gpu/matrix.hpp>

#include "base/index_range.hpp"
#include "pairs/engine.hpp"

namespace gpu::soft_thresholds {

/// Writes NaN to the rows of `connectivity`, which are those of `panel`, that have no statistic.
void mark_rows(const detail::row_info& rows, detail::index_range panel,
               matrix<double>& connectivity);

}  // namespace gpu::soft_thresholds
