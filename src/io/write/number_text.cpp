#include "io/write/number_text.hpp"

#include <fmt/compile.h>
#include <fmt/format.h>

#include <array>
#include <charconv>
#include <cmath>
#include <cstring>

namespace gpu::io {
namespace {

// Below it every half is a value of its own, and its text has no exponent.
constexpr double most_halves_of_double = 0x1p40;
constexpr float most_halves_of_float = 0x1p22F;

/// The digits of 0 to 999 and their number.
struct short_numbers {
  static constexpr std::size_t count = 1000;
  std::array<std::array<char, 4>, count> text = {};
  constexpr short_numbers() {
    for (std::size_t i = 0; i < count; ++i) {
      std::size_t digits = i < 10 ? 1 : i < 100 ? 2 : 3;
      text[i][3] = static_cast<char>(digits);
      for (std::size_t rest = i; digits > 0; rest /= 10) {
        text[i][--digits] = static_cast<char>('0' + rest % 10);
      }
    }
  }
};
constexpr short_numbers short_texts;

/// `value` is not negative.
char* append_whole(char* out, long long value) {
  if (static_cast<std::size_t>(value) >= short_numbers::count) return append_integer(out, value);
  const std::array<char, 4>& text = short_texts.text[static_cast<std::size_t>(value)];
  std::memcpy(out, text.data(), text.size());  // one too many at most: the buffer has room
  return out + text[3];
}

template <class T>
char* append_any(char* out, T value, T most) {
  const T twice = value * 2;
  // NaN fails the first comparison; -0 has a sign that an integer has not.
  if (std::abs(twice) < most && !(value == 0 && std::signbit(value))) {
    const auto whole = static_cast<long long>(twice);
    if (static_cast<T>(whole) == twice) {
      if (whole < 0) *out++ = '-';
      const long long halves = whole < 0 ? -whole : whole;
      out = append_whole(out, halves / 2);
      if (halves % 2 == 0) return out;
      std::memcpy(out, ".5", 2);
      return out + 2;
    }
  }
  if (std::isnan(value)) {
    std::memcpy(out, "NaN", 3);
    return out + 3;
  }
  return fmt::format_to(out, FMT_COMPILE("{}"), value);
}

}  // namespace

char* append_number(char* out, double value) {
  return append_any(out, value, most_halves_of_double);
}

char* append_number(char* out, float value) {
  return append_any(out, value, most_halves_of_float);
}

char* append_integer(char* out, long long value) {
  constexpr std::ptrdiff_t most_digits = 20;
  return std::to_chars(out, out + most_digits, value).ptr;
}

}  // namespace gpu::io
