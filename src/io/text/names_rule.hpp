#pragma once
// Whether the first line of a table names its columns, and the first column its rows: the rule of
// docs/input_files.md. What can be read in two ways is refused.

#include <cstddef>
#include <string>
#include <string_view>

#include "io/text/text_sample.hpp"

namespace gpu::io {

struct names_verdict {
  bool are_names = false;
  std::string note = {};  ///< What was taken for what, where one reading is only the usual one.
};

/// The first line of `sample`, which has one. `rows_are_named`: the caller said so.
/// @throw input_error where it can be read in two ways
[[nodiscard]] names_verdict judge_first_line(const text_sample& sample, bool rows_are_named,
                                             const std::string& file);

/// The first column of the lines from number `first_row` of `sample` on; those before are a header.
/// @throw input_error where it can be read in two ways
[[nodiscard]] names_verdict judge_first_column(const text_sample& sample, std::size_t first_row,
                                               const std::string& file);

/// Whether the last word of a label, as in gene_id or EntrezID, says that identifiers follow.
[[nodiscard]] bool says_identifiers(std::string_view label);

/// Whether `label` says that of the whole numbers which column `column` has in the lines from
/// `first_row` on: id does, but not code or index.
[[nodiscard]] bool holds_identifiers(const text_sample& sample, std::size_t first_row,
                                     std::size_t column, std::string_view label);

/// A column for a message: its number, its label, and the first few of its fields.
[[nodiscard]] std::string column_text(const text_sample& sample, std::size_t first_row,
                                      std::size_t column, std::string_view label);

}  // namespace gpu::io
