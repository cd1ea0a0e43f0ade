#include "io/text/text_fields.hpp"

#include <algorithm>

namespace gpu::io {
namespace {

constexpr std::size_t npos = std::string_view::npos;

/// The quote that closes the one at `open`; npos where there is none near enough.
std::size_t closing_quote(std::string_view text, std::size_t open) {
  const std::string_view near = text.substr(0, open + 1 + most_quoted_bytes);
  for (std::size_t at = open + 1; (at = near.find('"', at)) != npos; at += 2) {
    if (at + 1 == near.size() || near[at + 1] != '"') return at;
  }
  return npos;
}

/// Whether a blank at the edge of a field means nothing.
bool is_padding(char c, const field_rules& rules) {
  return c == ' ' || c == '\r' || (c == '\t' && rules.separator != '\t');
}

/// Whether the quote at `quote` is the first character of a field of the record from `begin` on.
bool opens_field(std::string_view text, std::size_t begin, std::size_t quote,
                 const field_rules& rules) {
  bool is_behind_blank = false;
  std::size_t at = quote;
  for (; at > begin && is_padding(text[at - 1], rules); --at) {
    is_behind_blank = is_behind_blank || text[at - 1] != '\r';
  }
  if (at == begin) return true;
  return rules.merges ? is_behind_blank : text[at - 1] == rules.separator;
}

}  // namespace

std::size_t record_end(std::string_view text, std::size_t begin, const field_rules& rules) {
  const auto line_end = [&](std::size_t from) {
    return std::min(text.find('\n', from), text.size());
  };
  std::size_t end = line_end(begin);
  if (is_comment(text.substr(begin, end - begin), rules)) return end;
  for (std::size_t at = begin;;) {
    const std::size_t quote = text.substr(0, end).find('"', at);
    if (quote == npos) return end;
    at = quote + 1;
    if (!opens_field(text, begin, quote, rules)) continue;
    const std::size_t close = closing_quote(text, quote);
    if (close == npos) return npos;
    at = close + 1;
    if (at > end) end = line_end(at);
  }
}

std::string text_of(field_fault fault) {
  return fault == field_fault::open_quote
             ? "got a quote that opens a field and none that closes it, expected one within 1 MiB"
             : "got text after the quote that closes a field, expected a separator";
}

bool field_cursor::take_quoted(std::string_view& field) {
  const std::size_t open = rest_.find('"');
  const std::size_t close = closing_quote(rest_, open);
  done_ = true;
  if (close == npos) {
    fault_ = field_fault::open_quote;
    return false;
  }
  field = rest_.substr(open + 1, close - open - 1);
  is_quoted_ = true;
  if (field.find('"') != npos) {
    unquoted_.clear();
    for (std::size_t at = 0; at < field.size(); ++at) {
      unquoted_ += field[at];
      if (field[at] == '"') ++at;
    }
    field = unquoted_;
  }
  rest_.remove_prefix(close + 1);
  const field_rules rules{separator_, merges_};
  std::size_t behind = 0;
  while (behind < rest_.size() && is_padding(rest_[behind], rules)) ++behind;
  if (behind == rest_.size()) return true;
  const bool is_separated =
      merges_ ? rest_.find_first_of(" \t") < behind : rest_[behind] == separator_;
  if (!is_separated) {
    fault_ = field_fault::text_behind_quote;
    return false;
  }
  rest_.remove_prefix(merges_ ? behind : behind + 1);
  done_ = false;
  return true;
}

}  // namespace gpu::io
