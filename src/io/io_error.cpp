#include "io/io_error.hpp"

#include <fmt/format.h>

#include <system_error>

namespace gpu::io {
namespace {

std::string located(const std::string& path, input_position where, const std::string& what) {
  const std::string file = printable(path);
  if (where.is_in_array) {
    return fmt::format("{}: row {}, column {}: {}", file, where.line, where.column, what);
  }
  if (where.line == 0) return fmt::format("{}: {}", file, what);
  if (where.column == 0) return fmt::format("{}:{}: {}", file, where.line, what);
  return fmt::format("{}:{}: column {}: {}", file, where.line, where.column, what);
}

}  // namespace

input_error::input_error(const std::string& file, input_position where, const std::string& what)
    : std::runtime_error(what),
      error(error_code::invalid_argument, located(file, where, what)),
      file_(file),
      where_(where) {}
input_error::~input_error() = default;

output_error::output_error(const std::string& file, const std::string& what)
    : std::runtime_error(fmt::format("{}: {}", printable(file), what)) {}
output_error::~output_error() = default;

std::string printable(std::string_view text) {
  std::string shown;
  shown.reserve(text.size());
  bool is_after_c2 = false;  // the first byte of U+0080 to U+00BF
  for (const char c : text) {
    const auto code = static_cast<unsigned char>(c);
    if (is_after_c2 && code >= 0x80 && code < 0xA0) {
      shown.back() = '?';
    } else {
      shown += code < 0x20 || code == 0x7F ? '?' : c;
    }
    is_after_c2 = code == 0xC2;
  }
  return shown;
}

std::string quoted(std::string_view text) {
  constexpr std::size_t longest = 40;
  return fmt::format("'{}{}'", printable(text.substr(0, longest)),
                     text.size() > longest ? "..." : "");
}

std::string system_message(int error_number) {
  return std::generic_category().message(error_number);
}

}  // namespace gpu::io
