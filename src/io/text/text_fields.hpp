#pragma once
// Records and fields of text: where they end, and what of them means nothing. Every reader of text
// splits by these functions; only lines of plain integers have a faster way (integer_line.hpp).

#include <bit>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

namespace gpu::io {

/// What separates the fields of a line.
struct field_rules {
  char separator = ' ';      ///< ' ', '\t', ',', ';' or '|'.
  bool merges = true;        ///< Whether a run of blanks is one separator: spaces and tabs.
  std::string comment = {};  ///< Lines that begin so are no records; empty: none.
};

/// A quote that opens a field is closed within so many bytes.
inline constexpr std::size_t most_quoted_bytes = std::size_t{1} << 20;

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

/// Whether the line that `text` begins with is a comment.
[[nodiscard]] inline bool is_comment(std::string_view text, const field_rules& rules) {
  if (rules.comment.empty()) return false;
  const std::size_t begin = text.find_first_not_of(" \t\r");
  return begin != std::string_view::npos && text.substr(begin).starts_with(rules.comment);
}

/// Whether a line holds no field. A line of tabs does where tabs separate: fields without text.
[[nodiscard]] inline bool is_blank_line(std::string_view line, const field_rules& rules) {
  if (rules.separator == '\t') return line.find_first_not_of(" \r") == std::string_view::npos;
  return trimmed(line).empty();
}

/// Where the record that begins at `begin` ends: at a newline that is not in quotes, or at the end
/// of `text`. A double quote opens a field that it is the first character of, but for blanks; two
/// in it are one that closes nothing. npos: a quote is open at the end of `text`.
[[nodiscard]] std::size_t record_end(std::string_view text, std::size_t begin,
                                     const field_rules& rules);

/// Where `separator` first stands in `text`, or npos: as find, which takes a call for fields that
/// mostly are shorter than a number in full.
[[nodiscard]] inline std::size_t separator_in(std::string_view text, char separator) {
  std::size_t at = 0;
  if constexpr (std::endian::native == std::endian::little) {
    constexpr std::uint64_t ones = 0x0101010101010101;
    constexpr std::size_t near = 24;
    const std::uint64_t pattern = ones * static_cast<unsigned char>(separator);
    for (; at < near && text.size() - at >= sizeof(pattern); at += sizeof(pattern)) {
      std::uint64_t bytes = 0;
      std::memcpy(&bytes, text.data() + at, sizeof(bytes));
      bytes ^= pattern;  // 0 where the separator stands
      // The lowest of the bits of 0x80 that are left is of the first byte that is 0.
      const std::uint64_t zeros = (bytes - ones) & ~bytes & (ones << 7);
      if (zeros != 0) return at + static_cast<std::size_t>(std::countr_zero(zeros)) / 8;
    }
  }
  return text.find(separator, at);
}

enum class field_fault { none, open_quote, text_behind_quote };

/// What to say of it.
[[nodiscard]] std::string text_of(field_fault fault);

/// Splits one record into fields without surrounding blanks or quotes. A separator at an end of the
/// record has a field without text beside it; only blanks that separate are none there.
class field_cursor {
 public:
  field_cursor(std::string_view record, const field_rules& rules)
      : rest_(rules.merges ? trimmed(record) : record),
        separator_(rules.separator),
        merges_(rules.merges),
        done_(is_blank_line(record, rules)) {}

  /// The next field, or false at the end of the record and where a quote is wrong. Valid until the
  /// next call.
  bool next(std::string_view& field) {
    if (done_) return false;
    is_quoted_ = false;
    const std::size_t end = merges_ ? blank_end() : separator_in(rest_, separator_);
    field = trimmed(rest_.substr(0, end));
    if (!field.empty() && field.front() == '"') return take_quoted(field);
    done_ = end == std::string_view::npos;
    if (!done_) rest_.remove_prefix(end + 1);
    return true;
  }
  /// Whether the last field stood in quotes.
  [[nodiscard]] bool is_quoted() const noexcept { return is_quoted_; }
  /// Why next() was false, where the record goes on.
  [[nodiscard]] field_fault fault() const noexcept { return fault_; }
  /// What of the record is not split yet.
  [[nodiscard]] std::string_view rest() const noexcept {
    return done_ ? std::string_view() : rest_;
  }

 private:
  /// The end of the field behind the blanks that come first, which it removes.
  std::size_t blank_end() {
    rest_ = trimmed(rest_);
    std::size_t end = 0;
    while (end < rest_.size() && rest_[end] != ' ' && rest_[end] != '\t') ++end;
    return end == rest_.size() ? std::string_view::npos : end;
  }
  bool take_quoted(std::string_view& field);

  std::string_view rest_;
  std::string unquoted_;  // a field with quotes in it
  char separator_;
  bool merges_;
  bool done_;
  bool is_quoted_ = false;
  field_fault fault_ = field_fault::none;
};

}  // namespace gpu::io
