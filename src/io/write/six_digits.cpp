#include "io/write/six_digits.hpp"

#include <fmt/format.h>

#include <array>
#include <bit>
#include <cmath>
#include <cstdint>

namespace gpu::io {
namespace {

constexpr int digit_count = 6;
constexpr std::uint32_t digits_end = 1000000;  // beyond a number of six digits
constexpr int largest_power = 308;

/// 10^k for k from -308 to 308. Errors of the repeated products stay below 1e-13.
struct power_table {
  std::array<double, 2 * largest_power + 1> values = {};
  constexpr power_table() {
    double power = 1;
    for (int k = 0; k <= largest_power; ++k) {
      values[static_cast<std::size_t>(largest_power + k)] = power;
      values[static_cast<std::size_t>(largest_power - k)] = 1 / power;
      if (k < largest_power) power *= 10;
    }
  }
  [[nodiscard]] double operator[](int k) const {
    return values[static_cast<std::size_t>(largest_power + k)];
  }
};
constexpr power_table powers;

/// value * 10^k, also where 10^k alone is beyond double.
double scaled(double value, int k) {
  return k <= largest_power ? value * powers[k]
                            : value * powers[largest_power] * powers[k - largest_power];
}

/// floor(log10(value)) or one less.
int decimal_exponent(double value) {
  constexpr int mantissa_bits = 52;
  constexpr int bias = 1023;
  const int binary = static_cast<int>(std::bit_cast<std::uint64_t>(value) >> mantissa_bits) - bias;
  // 78913 / 2^18 is log10(2) from below; the shift rounds down for negative numbers too.
  return (binary * 78913) >> 18;
}

char* append_exponent(char* out, int exponent) {
  *out++ = 'e';
  *out++ = exponent < 0 ? '-' : '+';
  const int magnitude = exponent < 0 ? -exponent : exponent;
  if (magnitude >= 100) *out++ = static_cast<char>('0' + magnitude / 100);
  *out++ = static_cast<char>('0' + magnitude / 10 % 10);
  *out++ = static_cast<char>('0' + magnitude % 10);
  return out;
}

}  // namespace

char* append_six_digits(char* out, double value) {
  if (std::isnan(value)) return append(out, "nan");
  if (value == 0) return append(out, "0");
  if (value < 0) {
    *out++ = '-';
    value = -value;
  }
  if (std::isinf(value)) return append(out, "inf");

  constexpr double smallest_normal = 0x1p-1022;
  if (value < smallest_normal) return fmt::format_to(out, "{:.6g}", value);

  int exponent = decimal_exponent(value);
  double digits_value = scaled(value, digit_count - 1 - exponent);
  if (digits_value >= digits_end - 0.5) {
    ++exponent;
    digits_value = scaled(value, digit_count - 1 - exponent);
  }
  auto number =
      static_cast<std::uint32_t>(digits_value + 0.5);  // NOLINT(bugprone-incorrect-roundings)
  if (static_cast<double>(number) - digits_value == 0.5) number &= ~1U;  // half to even
  if (number >= digits_end) {
    number /= 10;
    ++exponent;
  }

  std::array<char, digit_count> digits;
  int used = digit_count;
  for (std::size_t k = digit_count; k-- > 0; number /= 10) {
    digits[k] = static_cast<char>('0' + number % 10);
  }
  while (used > 1 && digits[static_cast<std::size_t>(used - 1)] == '0') --used;
  const std::string_view text(digits.data(), static_cast<std::size_t>(used));

  if (exponent < -4 || exponent >= digit_count) {
    *out++ = text.front();
    if (used > 1) {
      *out++ = '.';
      out = append(out, text.substr(1));
    }
    return append_exponent(out, exponent);
  }
  if (exponent < 0) {
    out = append(out, std::string_view("0.000").substr(0, static_cast<std::size_t>(1 - exponent)));
    return append(out, text);
  }
  const auto whole = static_cast<std::size_t>(exponent + 1);
  if (text.size() <= whole) {
    out = append(out, text);
    return append(out, std::string_view("00000").substr(0, whole - text.size()));
  }
  out = append(out, text.substr(0, whole));
  *out++ = '.';
  return append(out, text.substr(whole));
}

char* append_digits(char* out, double value, int digits) {
  if (digits == 0) return append_six_digits(out, value);
  if (std::isnan(value)) return fmt::format_to(out, "NaN");
  return fmt::format_to(out, "{:.{}g}", value, digits);
}

}  // namespace gpu::io
