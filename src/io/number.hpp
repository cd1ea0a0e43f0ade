#pragma once
// One number of a text file.

#include <charconv>
#include <cstdint>
#include <limits>
#include <string_view>
#include <system_error>

namespace gpu::io {

enum class number_kind { integer, real, not_a_number, overflow };

struct number {
  number_kind kind;
  std::int64_t integer = 0;
  double real = 0;
};

/// Integers beyond this magnitude are not all representable in double.
inline constexpr std::int64_t largest_exact_integer = std::int64_t{1} << 53;

/// Reads `field` whole: an integer (optional sign and digits), a decimal number, inf, or one of
/// NaN, nan, NA. `overflow`: an integer above 2^53, or a real beyond the range of double.
inline number parse_number(std::string_view field) {
  const char* const end = field.data() + field.size();
  const char* p = field.data();
  const bool negative = p != end && *p == '-';
  if (p != end && (*p == '-' || *p == '+')) ++p;
  const char* const digits = p;
  std::uint64_t magnitude = 0;
  constexpr std::ptrdiff_t most_digits = 18;  // cannot overflow 64 bits
  while (p != end && static_cast<unsigned>(*p - '0') <= 9U && p - digits < most_digits) {
    magnitude = magnitude * 10 + static_cast<unsigned>(*p++ - '0');
  }
  if (p == end && p != digits) {
    const auto value = static_cast<std::int64_t>(magnitude);
    if (value > largest_exact_integer) return {number_kind::overflow};
    return {number_kind::integer, negative ? -value : value};
  }
  if (field == "NA") {
    return {number_kind::real, 0, std::numeric_limits<double>::quiet_NaN()};
  }
  // from_chars takes '-' but not '+'.
  const char* const start = field.starts_with('+') ? digits : field.data();
  number result{number_kind::real};
  const auto [stopped, status] = std::from_chars(start, end, result.real);
  if (status == std::errc::invalid_argument || stopped != end ||
      (start != field.data() && *start == '-')) {
    return {number_kind::not_a_number};
  }
  if (status == std::errc::result_out_of_range) return {number_kind::overflow};
  const bool has_only_digits = field.substr(static_cast<std::size_t>(digits - field.data()))
                                   .find_first_not_of("0123456789") == std::string_view::npos;
  if (has_only_digits) return {number_kind::overflow};
  return result;
}

/// Whether `field` is something that parse_number takes.
inline bool is_number(std::string_view field) {
  return parse_number(field).kind != number_kind::not_a_number;
}

}  // namespace gpu::io
