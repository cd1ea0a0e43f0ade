#pragma once
// How a text table is laid out: told by its first lines, or by the caller.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <gpu/index.hpp>

#include "io/io_error.hpp"
#include "io/table.hpp"
#include "io/text/column_roles.hpp"
#include "io/text/field_value.hpp"
#include "io/text/text_fields.hpp"
#include "io/text/text_options.hpp"

namespace gpu::io {

struct text_layout : field_rules {
  value_rules values = {};
  bool row_names = false;              ///< Whether a field of each line names the row.
  index_t cols = 0;                    ///< Numbers in each line.
  index_t fields = 0;                  ///< Fields of each line.
  std::vector<field_role> roles = {};  ///< Of each field; empty: values, behind the name.
  std::optional<index_t> rows = {};    ///< Where the file says how many there are.
  bool may_name_rows = false;          ///< Whether the first column was left to the rule.
  /// Columns of values, from 1, that have text and no number in the first lines.
  std::vector<index_t> text_columns = {};
  std::string skip_words = {};  ///< What --skip-columns says to leave these out too.

  /// What field `column` is, counted from 1.
  [[nodiscard]] field_role role(index_t column) const {
    if (roles.empty()) return row_names && column == 1 ? field_role::name : field_role::value;
    return column <= fields ? roles[static_cast<std::size_t>(column - 1)] : field_role::skipped;
  }
};

/// A name as it may stand in a result: tabs and line breaks become blanks, other control characters
/// question marks.
[[nodiscard]] std::string cleaned_name(std::string_view name);

/// The separator that a caller names: a blank of blanks, and where he leaves it open.
[[nodiscard]] char separator_of(delimiter which);

/// A layout, and what stands in front of the rows.
struct found_layout {
  text_layout layout;
  column_names columns;
  table_reading reading;
  std::size_t rows_begin = 0;  ///< Bytes in front of the first row.
  index_t lines_before = 0;    ///< Lines in front of it.
};

/// Finds the layout from the first lines of `text`, which starts at the head of the file and
/// holds its sample (text_sample.hpp).
/// @throw input_error where there is no data line, the header does not match the data, or the
///   options name a column that is not there
[[nodiscard]] found_layout find_layout(std::string_view text, const text_options& options,
                                       const std::string& file);

}  // namespace gpu::io
