#pragma once
// Columns of one table in the order of another, by their names.

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include <gpu/index.hpp>

#include "io/table.hpp"

namespace gpu::io {

/// Names that are not the same in two lists: the first, and how many there are.
struct named_fault {
  std::string first = {};
  std::size_t count = 0;
  [[nodiscard]] bool is_there() const noexcept { return count > 0; }
  /// "column 'a'", or "column 'a' and 3 others"
  [[nodiscard]] std::string text() const;
};

/// Where each wanted name stands in a list of given ones.
struct name_match {
  std::vector<index_t> place = {};      ///< One a wanted name; right where nothing is wrong.
  named_fault repeated_in_wanted = {};  ///< Wanted twice.
  named_fault repeated_in_given = {};   ///< Given twice.
  named_fault missing = {};             ///< Wanted, and not given.
  named_fault unknown = {};             ///< Given, and not wanted.
};

/// Cost: a table of hashes of both lists.
[[nodiscard]] name_match match_names(std::span<const std::string> wanted,
                                     std::span<const std::string> given);

/// Column j of `table` becomes the one that stood at place[j], with its name: a permutation. A row
/// at a time, in place; of a sparse table the numbers of columns change.
void reorder_columns(table& table, std::span<const index_t> place, int threads);

}  // namespace gpu::io
