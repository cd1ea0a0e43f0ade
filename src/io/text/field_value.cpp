#include "io/text/field_value.hpp"

#include <algorithm>
#include <array>
#include <limits>

namespace gpu::io {
namespace {

constexpr std::array<std::string_view, 10> usual_words{"",     "NA",   "na",   "N/A",  "n/a",
                                                       "#N/A", "<NA>", "null", "NULL", "."};

double value_in(const number& n) {
  return n.kind == number_kind::integer ? static_cast<double>(n.integer) : n.real;
}

/// A number with a decimal comma. A point in it would be of thousands, or of another table.
number parse_with_comma(std::string_view field) {
  if (field.find('.') != std::string_view::npos) return {number_kind::not_a_number};
  std::string text(field);
  std::replace(text.begin(), text.end(), ',', '.');
  return parse_number(text);
}

}  // namespace

value_rules make_value_rules(char decimal, const std::vector<std::string>& missing) {
  value_rules rules{.decimal = decimal};
  for (const std::string& word : missing) {
    const number n = decimal == '.' ? parse_number(word) : parse_with_comma(word);
    const bool is_taken = n.kind == number_kind::integer || n.kind == number_kind::real;
    if (is_taken && value_in(n) == value_in(n)) {
      rules.missing_numbers.push_back(value_in(n));
    } else {
      rules.missing_words.push_back(word);
    }
  }
  return rules;
}

bool is_missing_word(std::string_view field, const value_rules& rules) {
  const auto is_field = [field](std::string_view word) { return word == field; };
  return std::any_of(usual_words.begin(), usual_words.end(), is_field) ||
         std::any_of(rules.missing_words.begin(), rules.missing_words.end(), is_field);
}

number parse_value(std::string_view field, const value_rules& rules) {
  number n = rules.decimal == '.' ? parse_number(field) : parse_with_comma(field);
  const number missing{number_kind::real, 0, std::numeric_limits<double>::quiet_NaN()};
  if (n.kind == number_kind::not_a_number) return is_missing_word(field, rules) ? missing : n;
  if (n.kind == number_kind::overflow) return n;
  const auto& numbers = rules.missing_numbers;
  return std::find(numbers.begin(), numbers.end(), value_in(n)) == numbers.end() ? n : missing;
}

}  // namespace gpu::io
