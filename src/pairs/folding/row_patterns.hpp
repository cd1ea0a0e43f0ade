#pragma once
// Rows of equal ranks, as folding groups them.

#include <cstddef>
#include <limits>
#include <span>
#include <vector>

#include <gpu/index.hpp>

namespace gpu::inline v0::detail {

/// The distinct rank vectors of an input, its *patterns*, and the rows that have each of them.
/// Patterns are numbered in the order of their first rows.
struct row_patterns {
  /// The pattern of a row that has no statistic.
  static constexpr node_id no_pattern = std::numeric_limits<node_id>::max();
  /// [rows]: the pattern of each row, or no_pattern.
  std::vector<node_id> pattern_of = {};
  /// [patterns + 1]: where the members of each pattern begin in `members`.
  std::vector<index_t> begin = {0};
  /// The rows that have a statistic, pattern by pattern, ascending within each.
  std::vector<node_id> members = {};

  [[nodiscard]] index_t size() const noexcept { return static_cast<index_t>(begin.size()) - 1; }
  /// The rows of `pattern`, ascending; at least one. No range check.
  [[nodiscard]] std::span<const node_id> members_of(node_id pattern) const noexcept {
    const auto first = static_cast<std::size_t>(begin[pattern]);
    const auto last = static_cast<std::size_t>(begin[std::size_t{pattern} + 1]);
    return std::span(members).subspan(first, last - first);
  }
  /// Patterns whose first row comes before `row`.
  [[nodiscard]] index_t count_before(index_t row) const noexcept {
    index_t first = 0;
    for (index_t last = size(); first < last;) {
      const index_t middle = first + (last - first) / 2;
      const bool is_before = members_of(static_cast<node_id>(middle)).front() < row;
      (is_before ? first : last) = is_before ? middle + 1 : middle;
    }
    return first;
  }
};

}  // namespace gpu::inline v0::detail
