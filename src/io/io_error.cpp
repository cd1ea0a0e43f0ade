#include "io/io_error.hpp"

#include <fmt/format.h>

#include <system_error>

namespace gpu::io {
namespace {

std::string located(const std::string& file, text_position where, const std::string& what) {
  if (where.line == 0) return fmt::format("{}: {}", file, what);
  if (where.column == 0) return fmt::format("{}:{}: {}", file, where.line, what);
  return fmt::format("{}:{}: column {}: {}", file, where.line, where.column, what);
}

}  // namespace

input_error::input_error(const std::string& file, text_position where, const std::string& what)
    : error(error_code::invalid_argument, located(file, where, what)), file_(file), where_(where) {}
input_error::~input_error() = default;

output_error::output_error(const std::string& file, const std::string& what)
    : std::runtime_error(fmt::format("{}: {}", file, what)) {}
output_error::~output_error() = default;

std::string quoted(std::string_view text) {
  constexpr std::size_t longest = 40;
  std::string shown = "'";
  for (const char c : text.substr(0, longest)) {
    const auto code = static_cast<unsigned char>(c);
    shown += code < 0x20 || code == 0x7F ? '?' : c;
  }
  if (text.size() > longest) shown += "...";
  return shown + "'";
}

std::string system_message(int error_number) {
  return std::generic_category().message(error_number);
}

}  // namespace gpu::io
