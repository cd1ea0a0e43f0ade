#include "pairs/differential/group_checks.hpp"

#include <fmt/format.h>

#include <cstddef>
#include <iterator>
#include <vector>

#include <gpu/error.hpp>

#include "base/counted.hpp"

namespace gpu::inline v0::detail {
namespace {

constexpr index_t least_group = 4;

void check_group(const char* name, std::span<const index_t> group, index_t cols,
                 std::vector<bool>& taken) {
  if (std::ssize(group) < least_group) {
    throw invalid_argument(fmt::format("groups.{}: got {}, expected at least {}", name,
                                       counted(group.size(), "column"), least_group));
  }
  for (const index_t column : group) {
    if (column < 0 || column >= cols) {
      throw invalid_argument(
          fmt::format("groups.{}: got column {}, expected 0 to {}", name, column, cols - 1));
    }
    if (taken[static_cast<std::size_t>(column)]) {
      throw invalid_argument(
          fmt::format("groups.{}: got column {} twice, expected each column in one group at most, "
                      "once",
                      name, column));
    }
    taken[static_cast<std::size_t>(column)] = true;
  }
}

}  // namespace

void check_groups(const column_groups& groups, index_t cols) {
  std::vector<bool> taken(static_cast<std::size_t>(cols));
  check_group("first", groups.first, cols, taken);
  check_group("second", groups.second, cols, taken);
}

void refuse_nan(index_t row, std::span<const double> values, std::span<const index_t> columns) {
  for (std::size_t k = 0; k < values.size(); ++k) {
    if (values[k] == values[k]) continue;
    throw invalid_argument(
        fmt::format("data: row {} holds a NaN in column {}, expected numbers, "
                    "or nan_policy::propagate",
                    row, columns[k]));
  }
}

}  // namespace gpu::inline v0::detail
