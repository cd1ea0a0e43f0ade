#pragma once
// How a text table is laid out: told by its first two lines, or by the caller.

#include <string>
#include <string_view>

#include <gpu/index.hpp>

#include "io/io_error.hpp"
#include "io/table.hpp"

namespace gpu::io {

/// A property that is found out, or forced.
enum class choice { automatic, yes, no };

struct text_layout {
  char separator = ' ';    ///< ' ', '\t' or ','.
  bool merges = true;      ///< Whether a run of separators is one: spaces only.
  bool header = false;     ///< Whether the first line that is not blank names the columns.
  bool row_names = false;  ///< Whether the first field of each line names the row.
  index_t cols = 0;        ///< Numbers in each line.
};

/// A name as it may stand in a result: without quotes around it, tabs or control characters.
[[nodiscard]] std::string cleaned_name(std::string_view name);

/// Removes blanks and carriage returns from both ends.
[[nodiscard]] inline std::string_view trimmed(std::string_view text) {
  const auto is_blank = [](char c) { return c == ' ' || c == '\t' || c == '\r'; };
  while (!text.empty() && is_blank(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_blank(text.back())) text.remove_suffix(1);
  return text;
}

/// The text behind the byte order mark that some programs write in front.
[[nodiscard]] inline std::string_view without_byte_order_mark(std::string_view text) {
  constexpr std::string_view mark = "\xEF\xBB\xBF";
  return text.starts_with(mark) ? text.substr(mark.size()) : text;
}

/// Splits one line into fields without surrounding blanks. Blanks at the ends of a line are no
/// fields, also where the separator is the tab.
class field_cursor {
 public:
  field_cursor(std::string_view line, const text_layout& layout)
      : rest_(trimmed(line)),
        separator_(layout.separator),
        merges_(layout.merges),
        done_(rest_.empty()) {}

  /// The next field, or false at the end of the line.
  bool next(std::string_view& field) {
    if (done_) return false;
    if (merges_) rest_ = trimmed(rest_);
    const std::size_t end = rest_.find(separator_);
    field = trimmed(rest_.substr(0, end));
    done_ = end == std::string_view::npos;
    if (!done_) rest_.remove_prefix(end + 1);
    return true;
  }

 private:
  std::string_view rest_;
  char separator_;
  bool merges_;
  bool done_;
};

/// Finds the layout from the first lines of `text`, which starts at the head of the file and
/// holds its first two lines that are not blank in full.
///
/// The separator is the tab where the first line has one, else the comma, else spaces. The first
/// line is a header where none of its fields after the first is a number. The first field names
/// the row where that of the first data line is no number, or where the header has one field less
/// than the data line.
/// @throw input_error where there is no data line, or the header does not match the data.
[[nodiscard]] text_layout find_layout(std::string_view text, choice header, choice row_names,
                                      const std::string& file);

/// The names of the columns that the header of `text` gives; `layout` is find_layout's of `text`.
[[nodiscard]] column_names find_columns(std::string_view text, const text_layout& layout);

}  // namespace gpu::io
