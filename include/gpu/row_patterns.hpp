#pragma once
/// @file
/// Rows of equal ranks as one pattern with its member rows.

#include <cstddef>
#include <limits>
#include <span>
#include <vector>

#include <gpu/index.hpp>

namespace gpu {
inline namespace v0 {

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

  /// Number of patterns.
  [[nodiscard]] index_t size() const noexcept { return static_cast<index_t>(begin.size()) - 1; }
  /// The rows of `pattern`, ascending; at least one. No range check.
  [[nodiscard]] std::span<const node_id> members_of(node_id pattern) const noexcept {
    const auto first = static_cast<std::size_t>(begin[pattern]);
    const auto last = static_cast<std::size_t>(begin[std::size_t{pattern} + 1]);
    return std::span(members).subspan(first, last - first);
  }
  /// Whether all three members are equal.
  friend bool operator==(const row_patterns&, const row_patterns&) = default;
};

}  // namespace v0
}  // namespace gpu
