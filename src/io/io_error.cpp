#include "io/io_error.hpp"

#include <fmt/format.h>

#include <system_error>

namespace gpu::io {
namespace {

std::string located(const std::string& path, input_position where, const std::string& what) {
  const std::string file = visible(path);
  if (where.is_in_array) {
    return fmt::format("{}: row {}, column {}: {}", file, where.line, where.column, what);
  }
  if (where.line == 0) return fmt::format("{}: {}", file, what);
  if (where.column == 0) return fmt::format("{}:{}: {}", file, where.line, what);
  return fmt::format("{}:{}: column {}: {}", file, where.line, where.column, what);
}

/// `text` with '?' for some characters.
template <class Is>
std::string without(std::string_view text, const Is& is_replaced) {
  std::string shown;
  shown.reserve(text.size());
  while (!text.empty()) {
    const text_character next = first_character(text);
    shown += is_replaced(next) ? std::string_view("?") : text.substr(0, next.bytes);
    text.remove_prefix(next.bytes);
  }
  return shown;
}

}  // namespace

input_error::input_error(const std::string& file, input_position where, const std::string& what)
    : std::runtime_error(what),
      error(error_code::invalid_argument, located(file, where, what)),
      file_(file),
      where_(where) {}
input_error::~input_error() = default;

output_error::output_error(const std::string& file, const std::string& what)
    : std::runtime_error(fmt::format("{}: {}", visible(file), what)) {}
output_error::~output_error() = default;

text_character first_character(std::string_view text) noexcept {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const char32_t first = byte(0);
  const std::size_t bytes = first < 0x80    ? 1
                            : first < 0xC2  ? 0
                            : first < 0xE0  ? 2
                            : first < 0xF0  ? 3
                            : first <= 0xF4 ? 4
                                            : 0;
  if (bytes < 2 || text.size() < bytes) return {.code = first};
  char32_t code = first & (0x7FU >> bytes);
  for (std::size_t i = 1; i < bytes; ++i) {
    if ((byte(i) & 0xC0U) != 0x80) return {.code = first};
    code = code << 6U | (byte(i) & 0x3FU);
  }
  constexpr char32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
  if (code < least[bytes]) return {.code = first};
  return {.code = code, .bytes = bytes};
}

bool is_hidden(char32_t code) noexcept {
  const auto is_from = [code](char32_t begin, char32_t end) {
    return code >= begin && code <= end;
  };
  return code < 0x20 || is_from(0x7F, 0x9F) || code == 0x061C || is_from(0x200E, 0x200F) ||
         is_from(0x2028, 0x202E) || is_from(0x2066, 0x2069);
}

std::string printable(std::string_view text) {
  return without(text, [](const text_character& c) {
    return c.code < 0x20 || c.code == 0x7F || (c.bytes > 1 && c.code < 0xA0);
  });
}

std::string visible(std::string_view text) {
  return without(text, [](const text_character& c) { return is_hidden(c.code); });
}

std::string quoted(std::string_view text) {
  constexpr std::size_t longest = 40;
  return fmt::format("'{}{}'", visible(text.substr(0, longest)),
                     text.size() > longest ? "..." : "");
}

std::string system_message(int error_number) {
  return std::generic_category().message(error_number);
}

}  // namespace gpu::io
