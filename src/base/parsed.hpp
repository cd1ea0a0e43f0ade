#pragma once
// Words of text: the number that one is, and its small letters.

#include <cctype>
#include <charconv>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>

namespace gpu::inline v0::detail {

/// The number that all of `text` is; nothing if it is not one, or beyond the type.
template <class Number>
[[nodiscard]] std::optional<Number> parsed(std::string_view text) {
  Number value{};
  const char* const end = text.data() + text.size();
  const auto [stopped, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc() || stopped != end) return std::nullopt;
  return value;
}

[[nodiscard]] inline std::string lower(std::string_view text) {
  std::string out(text);
  for (char& c : out) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return out;
}

}  // namespace gpu::inline v0::detail
