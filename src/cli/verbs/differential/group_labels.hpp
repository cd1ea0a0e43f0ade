#pragma once
// --groups: which columns are in which group.

#include <string>
#include <vector>

#include <gpu/index.hpp>

#include "io/table.hpp"

namespace gpu::cli {

/// The columns of two groups, by number from 0, and what the groups are called.
struct labelled_groups {
  std::string first_label = {};
  std::string second_label = {};
  std::vector<index_t> first = {};
  std::vector<index_t> second = {};
};

/// Whether --groups gives a file, which may be missing, and not labels: two groups have a comma
/// between them.
[[nodiscard]] bool is_groups_file(const std::string& given);

/// @param given labels with commas between them, one a column, or a file: a line for each column
///   with its label, or with its name and its label. "-", "NA" and nothing are no label.
/// @param cols, columns of the table.
/// @throw usage_error, or io::input_error of a file, where that does not name two groups.
[[nodiscard]] labelled_groups groups_of(const std::string& given, index_t cols,
                                        const io::column_names& columns);

}  // namespace gpu::cli
