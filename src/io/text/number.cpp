#include "io/text/number.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <system_error>

namespace gpu::io {
namespace {

/// Whether a number that from_chars finds out of range is too small for double, not too large: it
/// is below 1. `text` is a decimal number with a digit other than 0.
bool is_tiny(std::string_view text) {
  if (text.starts_with('-')) text.remove_prefix(1);
  const std::size_t e = std::min(text.find_first_of("eE"), text.size());
  const std::string_view digits = text.substr(0, e);
  std::string_view exponent_text = text.substr(std::min(e + 1, text.size()));
  if (exponent_text.starts_with('+')) exponent_text.remove_prefix(1);

  // The first digit that counts stands for digit * 10^place.
  const auto point = static_cast<std::int64_t>(std::min(digits.find('.'), digits.size()));
  const auto first = static_cast<std::int64_t>(digits.find_first_of("123456789"));
  const std::int64_t place = first < point ? point - first - 1 : point - first;
  std::int64_t exponent = 0;
  const char* const end = exponent_text.data() + exponent_text.size();
  const auto status = std::from_chars(exponent_text.data(), end, exponent).ec;
  if (status == std::errc::result_out_of_range) return exponent_text.starts_with('-');
  return exponent < -place;
}

/// Whether the integer `text` is `value`: rounded, integers that differ could become equal.
bool is_exact(std::string_view text, double value) {
  std::array<char, std::numeric_limits<double>::max_exponent10 + 3> digits{};  // and a sign
  const char* const end =
      std::to_chars(digits.data(), digits.data() + digits.size(), value, std::chars_format::fixed)
          .ptr;
  const auto without_zeros = [](std::string_view number) {
    return number.substr(std::min(number.find_first_not_of("-0"), number.size()));
  };
  return without_zeros(text) == without_zeros({digits.data(), end});
}

}  // namespace

number parse_other_number(std::string_view field) {
  if (field == "NA") return {number_kind::real, 0, std::numeric_limits<double>::quiet_NaN()};
  // from_chars takes '-' but not '+'.
  std::string_view text = field;
  if (text.starts_with('+')) {
    text.remove_prefix(1);
    if (text.starts_with('-')) return {number_kind::not_a_number};
  }
  number result{number_kind::real};
  const char* const end = text.data() + text.size();
  const auto [stopped, status] = std::from_chars(text.data(), end, result.real);
  if (status == std::errc::invalid_argument || stopped != end) return {number_kind::not_a_number};
  if (status == std::errc::result_out_of_range) {
    if (!is_tiny(text))
      return {number_kind::overflow, 0, text.starts_with('-') ? -HUGE_VAL : HUGE_VAL};
    result.real = text.starts_with('-') ? -0.0 : 0.0;  // the nearest double
    return result;
  }
  if (text.find('(') != std::string_view::npos) return {number_kind::not_a_number};  // nan(...)
  if (text.find_first_not_of("-0123456789") != std::string_view::npos) return result;
  if (std::abs(result.real) > static_cast<double>(largest_exact_integer)) {
    return {is_exact(text, result.real) ? number_kind::real : number_kind::overflow, 0,
            result.real};
  }
  std::int64_t integer = 0;
  (void)std::from_chars(text.data(), end, integer);
  // 2^53 + 1 is rounded to 2^53.
  if (integer > largest_exact_integer || integer < -largest_exact_integer) {
    return {number_kind::overflow, 0, result.real};
  }
  return {number_kind::integer, integer};
}

}  // namespace gpu::io
