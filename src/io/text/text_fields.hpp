#pragma once
// Fields of a line of text: what separates them, and what of a line means nothing.

#include <string_view>

namespace gpu::io {

/// What separates the fields of a line.
struct field_rules {
  char separator = ' ';  ///< ' ', '\t' or ','.
  bool merges = true;    ///< Whether a run of separators is one: spaces only.
};

/// Removes blanks and carriage returns from both ends.
[[nodiscard]] inline std::string_view trimmed(std::string_view text) {
  const auto is_blank = [](char c) { return c == ' ' || c == '\t' || c == '\r'; };
  while (!text.empty() && is_blank(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_blank(text.back())) text.remove_suffix(1);
  return text;
}

/// Whether a line holds no field. A line of tabs does where tabs separate: fields without text.
[[nodiscard]] inline bool is_blank_line(std::string_view line, const field_rules& rules) {
  if (rules.separator == '\t') return line.find_first_not_of(" \r") == std::string_view::npos;
  return trimmed(line).empty();
}

/// The text behind the byte order mark that some programs write in front.
[[nodiscard]] inline std::string_view without_byte_order_mark(std::string_view text) {
  constexpr std::string_view mark = "\xEF\xBB\xBF";
  return text.starts_with(mark) ? text.substr(mark.size()) : text;
}

/// Splits one line into fields without surrounding blanks. A separator at an end of the line has a
/// field without text beside it; only runs of spaces are none there.
class field_cursor {
 public:
  field_cursor(std::string_view line, const field_rules& rules)
      : rest_(rules.merges ? trimmed(line) : line),
        separator_(rules.separator),
        merges_(rules.merges),
        done_(is_blank_line(line, rules)) {}

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

}  // namespace gpu::io
