#include "soft_thresholds/rows_without.hpp"

#include <algorithm>
#include <limits>
#include <vector>

namespace gpu::soft_thresholds {
namespace {

void mark(const std::vector<index_t>& rows, detail::index_range panel,
          matrix<double>& connectivity) {
  for (const index_t row : rows) {
    if (!panel.holds(row)) continue;
    const auto sums = connectivity.row(row - panel.begin);
    std::fill(sums.begin(), sums.end(), std::numeric_limits<double>::quiet_NaN());
  }
}

}  // namespace

void mark_rows(const detail::row_info& rows, detail::index_range panel,
               matrix<double>& connectivity) {
  mark(rows.constant_rows, panel, connectivity);
  mark(rows.nan_rows, panel, connectivity);
}

}  // namespace gpu::soft_thresholds
