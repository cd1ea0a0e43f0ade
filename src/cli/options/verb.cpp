#include "cli/options/verb.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cstdlib>

namespace gpu::cli {

option::option(std::string_view all, destination where, std::string text)
    : to(std::move(where)), help(std::move(text)) {
  std::size_t end = all.find(',');
  for (; end != std::string_view::npos; end = all.find(',')) {
    names.emplace_back(all.substr(0, end));
    all.remove_prefix(end + 1);
  }
  names.emplace_back(all);
}

option* option::type_name(std::string text) {
  type = std::move(text);
  return this;
}
option* option::group(std::string text) {
  heading = std::move(text);
  return this;
}
option* option::check(text_taker how) {
  look = std::move(how);
  return this;
}
option* option::required() {
  is_required = true;
  return this;
}
option* option::excludes(const option* other) {
  excluded = other;
  return this;
}

std::string option::title() const {
  std::string out;
  for (const std::string& name : names) out += (out.empty() ? "" : ", ") + name;
  return is_flag() || is_argument() ? out : out + " " + type;
}

option* verb::add(std::string_view names, option::destination to, std::string help) {
  return &options.emplace_back(names, std::move(to), std::move(help));
}

option* verb::add_words(std::string_view names, const std::vector<std::string_view>& known,
                        std::function<void(std::size_t)> take, std::string help,
                        const aliases& others) {
  std::vector<std::string_view> sorted = known;
  std::sort(sorted.begin(), sorted.end());
  std::string type;
  for (const std::string_view word : sorted) type.append(type.empty() ? "" : "|").append(word);
  auto take_word = [known, take = std::move(take), others, type](const std::string& given) {
    std::string word = given;
    std::transform(word.begin(), word.end(), word.begin(),
                   [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    if (const auto alias = others.find(word); alias != others.end()) word = alias->second;
    const auto found = std::find(known.begin(), known.end(), word);
    if (found == known.end()) return fmt::format("got {}, expected {}", given, type);
    take(static_cast<std::size_t>(found - known.begin()));
    return std::string();
  };
  return add(names, std::move(take_word), std::move(help))->type_name(type);
}

bool verb::is_given(std::string_view option_name) const {
  return std::any_of(options.begin(), options.end(), [&](const option& o) {
    return o.is_given && std::find(o.names.begin(), o.names.end(), option_name) != o.names.end();
  });
}

text_taker number_in(std::string expected, bool (*holds)(double)) {
  return [expected = std::move(expected), holds](const std::string& text) -> std::string {
    char* end = nullptr;
    const double value = static_cast<double>(std::strtold(text.c_str(), &end));
    const bool is_number = !text.empty() && end == text.c_str() + text.size();
    if (is_number && holds(value)) return "";
    return fmt::format("got {}, expected {}", text, expected);
  };
}

text_taker file_name() {
  return [](const std::string& text) -> std::string {
    return text.empty() ? "got an empty name, expected a file, or -" : "";
  };
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

}  // namespace gpu::cli
