#pragma once
// One number of a text file.

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace gpu::io {

enum class number_kind { integer, real, not_a_number, overflow };

struct number {
  number_kind kind;
  std::int64_t integer = 0;
  double real = 0;  ///< Of an overflow what is nearest.
};

/// Integers beyond this magnitude are not all representable in double.
inline constexpr std::int64_t largest_exact_integer = std::int64_t{1} << 53;

/// What is expected where parse_number() says overflow.
inline constexpr const char* numbers_in_range =
    "an integer that a double holds exactly, as all up to 2^53, or a real number in its range "
    "(with a point behind it, as in 9007199254740993.0, an integer is rounded to a double)";

/// Powers of ten that double holds exactly.
inline constexpr std::array<double, 23> powers_of_ten{
    1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10, 1e11,
    1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};

/// What is neither a short integer nor a short decimal number.
number parse_other_number(std::string_view field);

/// Reads `field` whole: an integer (optional sign and digits), a decimal number, inf, or one of
/// NaN, nan, NA. An integer above 2^53 is a real number where a double holds it exactly, as
/// printf("%.17g") and R write doubles; `overflow`: another one, or a real beyond the largest
/// double. What is nearer to 0 than to any other double is 0.
inline number parse_number(std::string_view field) {
  const char* const end = field.data() + field.size();
  const char* p = field.data();
  const bool negative = p != end && *p == '-';
  if (p != end && (*p == '-' || *p == '+')) ++p;
  constexpr std::ptrdiff_t most_characters = 18;  // as digits, these cannot overflow 64 bits
  if (end - p > most_characters || p == end) return parse_other_number(field);

  const auto is_digit = [](char c) { return static_cast<unsigned>(c - '0') <= 9U; };
  const char* const first_digit = p;
  std::int64_t digits = 0;
  for (; p != end && is_digit(*p); ++p) digits = digits * 10 + (*p - '0');
  if (p == end) {
    if (digits > largest_exact_integer) return parse_other_number(field);
    return {number_kind::integer, negative ? -digits : digits};
  }
  if (*p != '.') return parse_other_number(field);
  const char* const point = p++;
  for (; p != end && is_digit(*p); ++p) digits = digits * 10 + (*p - '0');
  const bool has_digits = end - first_digit > 1;
  if (p != end || !has_digits || digits > largest_exact_integer) return parse_other_number(field);
  // Both operands are exact, so the one rounding of the division gives the nearest double.
  const double value =
      static_cast<double>(digits) / powers_of_ten[static_cast<std::size_t>(end - point - 1)];
  return {number_kind::real, 0, negative ? -value : value};
}

/// Whether `field` is something that parse_number takes.
inline bool is_number(std::string_view field) {
  return parse_number(field).kind != number_kind::not_a_number;
}

}  // namespace gpu::io
