#pragma once
// How a text table is laid out: told by its first lines, or by the caller.

#include <string>
#include <string_view>

#include <gpu/index.hpp>

#include "io/io_error.hpp"
#include "io/table.hpp"
#include "io/text/text_fields.hpp"

namespace gpu::io {

/// A property that is found out, or forced.
enum class choice { automatic, yes, no };

struct text_layout : field_rules {
  bool header = false;     ///< Whether the first line that is not blank names the columns.
  bool row_names = false;  ///< Whether the first field of each line names the row.
  index_t cols = 0;        ///< Numbers in each line.
};

/// A name as it may stand in a result: without quotes around it, tabs or control characters.
[[nodiscard]] std::string cleaned_name(std::string_view name);

/// A layout, and what stands in front of the rows.
struct found_layout {
  text_layout layout;
  column_names columns;
  table_reading reading;
  std::size_t rows_begin = 0;  ///< Bytes in front of the first row.
  index_t lines_before = 0;    ///< Lines in front of it.
};

/// Finds the layout from the first lines of `text`, which starts at the head of the file and
/// holds the lines of the sample (text_sample.hpp) in full.
///
/// The separator is the tab where the second line has one, else the comma, else spaces. What is
/// told by the values (text_sample.hpp, names_signs.hpp): whether the first line names the columns,
/// and the first field of each line the row.
/// @throw input_error where there is no data line, or the header does not match the data.
[[nodiscard]] found_layout find_layout(std::string_view text, choice header, choice row_names,
                                       const std::string& file);

}  // namespace gpu::io
