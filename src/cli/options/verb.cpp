#include "cli/options/verb.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <system_error>

#include "base/parsed.hpp"

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

option* option::of_result() {
  decides = effect::result;
  return this;
}
option* option::of_reading() {
  decides = effect::reading;
  return this;
}

std::string option::value_text() const {
  return std::visit(
      [this]<class To>(const To& from) -> std::string {
        if constexpr (std::is_same_v<To, text_taker>) {
          return said();
        } else if constexpr (std::is_same_v<To, bool*>) {
          return *from ? "yes" : "";
        } else if constexpr (requires { *from == 0; }) {
          return *from == 0 ? "" : fmt::format("{}", *from);
        } else if constexpr (std::is_same_v<To, std::string*>) {
          return *from;
        } else {
          return "";
        }
      },
      to);
}

bool option::take(const std::string& text) const {
  if (text.empty()) return true;
  return std::visit(
      [&text]<class To>(const To& place) {
        if constexpr (std::is_same_v<To, text_taker>) {
          return place(text).empty();
        } else if constexpr (std::is_same_v<To, bool*>) {
          return *place = text == "yes";
        } else if constexpr (requires { *place == 0; }) {
          return std::from_chars(text.data(), text.data() + text.size(), *place).ec == std::errc();
        } else {
          return false;
        }
      },
      to);
}

std::string option::title() const {
  std::string out;
  for (const std::string& name : names) out += (out.empty() ? "" : ", ") + name;
  return is_flag() || is_argument() ? out : out + " " + type;
}

option* verb::add(std::string_view names, option::destination to, std::string help) {
  option& added = options.emplace_back(names, std::move(to), std::move(help));
  added.heading = heading;
  return &added;
}

option* verb::add_file(std::string_view names, std::string& value, std::string help,
                       const char* type) {
  return add_option(names, value, std::move(help))
      ->type_name(type)
      ->check([](const std::string& text) -> std::string {
        return text.empty() ? "got an empty name, expected a file, or -" : "";
      });
}

option* verb::add_words(std::string_view names, const std::vector<std::string_view>& known,
                        std::function<void(std::size_t)> take, std::string help,
                        const aliases& others) {
  std::vector<std::string_view> sorted = known;
  std::sort(sorted.begin(), sorted.end());
  std::string type;
  for (const std::string_view word : sorted) type.append(type.empty() ? "" : "|").append(word);
  auto take_word = [known, take = std::move(take), others, type](const std::string& given) {
    std::string word = gpu::detail::lower(given);
    if (const auto alias = others.find(word); alias != others.end()) word = alias->second;
    const auto found = std::find(known.begin(), known.end(), word);
    if (found == known.end()) return fmt::format("got {}, expected {}", given, type);
    take(static_cast<std::size_t>(found - known.begin()));
    return std::string();
  };
  return add(names, std::move(take_word), std::move(help))->type_name(type);
}

std::string verb::broken(std::initializer_list<option_rule> rules) const {
  for (const option_rule& rule : rules) {
    if (!rule.applies) continue;
    for (std::string_view rest = rule.options; !rest.empty();) {
      const std::string_view asked = rest.substr(0, rest.find(' '));
      if (is_given(asked)) {
        return fmt::format("{}{}{}", asked, rule.what.starts_with(':') ? "" : " ", rule.what);
      }
      rest.remove_prefix(std::min(asked.size() + 1, rest.size()));
    }
  }
  return "";
}

bool verb::is_given(std::string_view option_name) const {
  return std::any_of(options.begin(), options.end(), [&](const option& o) {
    return o.is_given && std::find(o.names.begin(), o.names.end(), option_name) != o.names.end();
  });
}

text_taker number_in(const number_range& range, bool is_whole) {
  return [range, is_whole](const std::string& text) -> std::string {
    char* end = nullptr;
    const double value = static_cast<double>(std::strtold(text.c_str(), &end));
    const bool is_number = !text.empty() && end == text.c_str() + text.size();
    if (is_number && value >= range.least && value <= range.most &&
        !(range.is_above && value == range.least) && !(range.is_below && value == range.most)) {
      return "";
    }
    std::string expected = fmt::format("a {}number {} {}", is_whole ? "whole " : "",
                                       range.is_above ? "above" : "from", range.least);
    if (std::isfinite(range.most)) {
      expected += fmt::format(" {} {}",
                              range.is_below   ? "and below"
                              : range.is_above ? "and up to"
                                               : "to",
                              range.most);
    }
    return fmt::format("got {}, expected {}", text, expected);
  };
}

std::optional<std::uint64_t> parse_bytes(std::string_view text) {
  std::uint64_t count = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), count);
  if (error != std::errc() || count == 0) return {};
  std::string unit = gpu::detail::lower({end, text.data() + text.size()});
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
