#include "cli/options/option_values.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <charconv>

namespace gpu::cli {

CLI::Validator number_in(const std::string& expected, bool (*holds)(double)) {
  return CLI::Validator(
      [expected, holds](std::string& text) -> std::string {
        double value = 0;
        if (CLI::detail::lexical_cast(text, value) && holds(value)) return "";
        return fmt::format("got {}, expected {}", text, expected);
      },
      "");
}

CLI::Validator file_name() {
  return CLI::Validator(
      [](std::string& text) {
        return text.empty() ? std::string("got an empty name, expected a file, or -") : "";
      },
      "");
}

std::optional<std::uint64_t> parse_bytes(std::string_view text) {
  std::uint64_t count = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), count);
  if (error != std::errc() || count == 0) return {};
  std::string unit(end, text.data() + text.size());
  std::transform(unit.begin(), unit.end(), unit.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  if (unit.ends_with('b')) unit.pop_back();
  const bool is_binary = unit.ends_with('i');
  if (is_binary) unit.pop_back();
  constexpr std::string_view prefixes = "kmgt";
  const std::size_t power = unit.empty() ? 0 : prefixes.find(unit) + 1;
  if (unit.size() > 1 || (power == 0 && (!unit.empty() || is_binary))) return {};
  const std::uint64_t step = is_binary ? 1024 : 1000;
  for (std::size_t p = 0; p < power; ++p) {
    if (__builtin_mul_overflow(count, step, &count)) return {};
  }
  return count;
}

bool is_given(const CLI::App& app, const char* option) {
  const CLI::Option* const found = app.get_option_no_throw(option);
  return found != nullptr && found->count() > 0;
}

}  // namespace gpu::cli
