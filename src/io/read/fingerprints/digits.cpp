#include "io/read/fingerprints/digits.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>

#include "io/io_error.hpp"

namespace gpu::io {
namespace {

constexpr std::array<std::int8_t, 256> make_hex_values() {
  std::array<std::int8_t, 256> out{};
  for (std::size_t c = 0; c < out.size(); ++c) {
    out[c] = static_cast<std::int8_t>(hex_value(static_cast<char>(c)));
  }
  return out;
}
constexpr std::array<std::int8_t, 256> hex_values = make_hex_values();

}  // namespace

bool is_hex(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) {
    return hex_values[static_cast<unsigned char>(c)] >= 0;
  });
}

bool is_binary(std::string_view text) {
  return !text.empty() && text.find_first_not_of("01") == std::string_view::npos;
}

std::string text_of(digits_fault fault, std::string_view digits, index_t cols,
                    std::string_view expected) {
  switch (fault) {
    case digits_fault::none:
      break;
    case digits_fault::digit:
      return fmt::format("got {}, expected {}", quoted(digits), expected);
    case digits_fault::bit_behind_last:
      return fmt::format("got a bit after the last of {}, expected 0", cols);
  }
  return {};
}

digits_fault take_hex(std::string_view digits, index_t cols, std::uint32_t* words) {
  constexpr std::size_t word_octets = 4;
  unsigned last = 0;
  for (std::size_t k = 0; 2 * k < digits.size(); ++k) {
    const int high = hex_values[static_cast<unsigned char>(digits[2 * k])];
    const int low = hex_values[static_cast<unsigned char>(digits[2 * k + 1])];
    if ((high | low) < 0) return digits_fault::digit;
    last = static_cast<unsigned>(high << 4 | low);
    words[k / word_octets] |= last << (8 * (k % word_octets));
  }
  const auto rest = static_cast<unsigned>(cols % 8);
  return rest != 0 && last >> rest != 0 ? digits_fault::bit_behind_last : digits_fault::none;
}

digits_fault take_binary(std::string_view digits, std::uint32_t* words) {
  constexpr std::size_t word_bits = 32;
  for (std::size_t k = 0; k < digits.size(); ++k) {
    const auto bit = static_cast<unsigned char>(digits[k] - '0');
    if (bit > 1) return digits_fault::digit;
    words[k / word_bits] |= std::uint32_t{bit} << (k % word_bits);
  }
  return digits_fault::none;
}

}  // namespace gpu::io
