#include "io/json.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>

#include "base/parsed.hpp"
#include "io/io_error.hpp"

namespace gpu::io {

std::string json_text(std::string_view text) {
  std::string out = "\"";
  while (!text.empty()) {
    const text_character next = first_character(text);
    const auto c = static_cast<unsigned char>(text[0]);
    if (next.bytes == 1 && c >= 0x80) {
      out += fmt::format("\\udc{:02x}", c);
    } else if (c < 0x20 || c == 0x7f) {
      out += fmt::format("\\u{:04x}", c);
    } else {
      if (c == '"' || c == '\\') out += '\\';
      out += text.substr(0, next.bytes);
    }
    text.remove_prefix(next.bytes);
  }
  return out + "\"";
}

std::string json_number(double value) {
  return std::isfinite(value) ? fmt::format("{}", value) : std::string("null");
}

/// Reads one value after the other; every take_ says whether it was there.
class json_parser {
 public:
  explicit json_parser(std::string_view text) : rest_(text) {}

  [[nodiscard]] bool take_value(json_value& out, int depth) {
    constexpr int deepest = 32;
    skip_blanks();
    if (rest_.empty() || depth > deepest) return false;
    switch (rest_[0]) {
      case '{':
        return take_members(out, '}', depth);
      case '[':
        return take_members(out, ']', depth);
      case '"':
        out.kind_ = json_value::kind::text;
        return take_text(out.text_);
      default:
        return take_word(out);
    }
  }
  [[nodiscard]] bool is_at_end() {
    skip_blanks();
    return rest_.empty();
  }

 private:
  void skip_blanks() {
    const std::size_t at = rest_.find_first_not_of(" \t\r\n");
    rest_.remove_prefix(std::min(at, rest_.size()));
  }
  [[nodiscard]] bool take(char c) {
    skip_blanks();
    if (rest_.empty() || rest_[0] != c) return false;
    rest_.remove_prefix(1);
    return true;
  }
  [[nodiscard]] bool take_members(json_value& out, char end, int depth) {
    out.kind_ = end == '}' ? json_value::kind::object : json_value::kind::array;
    rest_.remove_prefix(1);
    if (take(end)) return true;
    do {
      std::string key;
      skip_blanks();
      if (end == '}' && !(take_text(key) && take(':'))) return false;
      json_value value;
      if (!take_value(value, depth + 1)) return false;
      out.members_.emplace_back(std::move(key), std::move(value));
    } while (take(','));
    return take(end);
  }
  [[nodiscard]] bool take_text(std::string& out) {
    if (rest_.empty() || rest_[0] != '"') return false;
    rest_.remove_prefix(1);
    while (!rest_.empty()) {
      const char c = rest_[0];
      rest_.remove_prefix(1);
      if (c == '"') return true;
      if (c != '\\') {
        out += c;
      } else if (!take_escape(out)) {
        return false;
      }
    }
    return false;
  }
  /// What json_text() writes: a quote, a backslash, or four hexadecimal digits.
  [[nodiscard]] bool take_escape(std::string& out) {
    if (rest_.starts_with('"') || rest_.starts_with('\\')) {
      out += rest_[0];
      rest_.remove_prefix(1);
      return true;
    }
    constexpr std::size_t size = 5;
    unsigned code = 0;
    if (!rest_.starts_with('u') || rest_.size() < size) return false;
    const auto [end, error] = std::from_chars(rest_.data() + 1, rest_.data() + size, code, 16);
    if (error != std::errc() || end != rest_.data() + size) return false;
    rest_.remove_prefix(size);
    const bool is_byte = code >= 0xdc80 && code <= 0xdcff;  // one that was no UTF-8
    out += static_cast<char>(is_byte ? code - 0xdc00 : code);
    return is_byte || code < 0x80;
  }

  /// true, false, null or a number.
  [[nodiscard]] bool take_word(json_value& out) {
    const std::size_t length = std::min(rest_.find_first_of(" \t\r\n,]}"), rest_.size());
    out.text_ = rest_.substr(0, length);
    rest_.remove_prefix(length);
    if (out.text_ == "null") return true;
    if (out.text_ == "true" || out.text_ == "false") {
      out.kind_ = json_value::kind::boolean;
      return true;
    }
    out.kind_ = json_value::kind::number;
    return out.number().has_value();
  }

  std::string_view rest_;
};

std::optional<json_value> json_value::parse(std::string_view text) {
  json_parser parser(text);
  json_value out;
  if (!parser.take_value(out, 0) || !parser.is_at_end()) return {};
  return out;
}

std::optional<std::uint64_t> json_value::count() const {
  if (kind_ != kind::number) return {};
  return gpu::detail::parsed<std::uint64_t>(text_);
}

std::optional<double> json_value::number() const {
  if (kind_ != kind::number) return {};
  return gpu::detail::parsed<double>(text_);
}

const json_value* json_value::find(std::string_view key) const {
  for (const auto& [name, value] : members_) {
    if (name == key) return &value;
  }
  return nullptr;
}

}  // namespace gpu::io
