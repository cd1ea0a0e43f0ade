#pragma once
// Bits written as digits.

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include <gpu/index.hpp>

namespace gpu::io {

/// The value of a hexadecimal digit, or -1.
[[nodiscard]] constexpr int hex_value(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

/// Whether `text` is hexadecimal digits alone, at least one.
[[nodiscard]] bool is_hex(std::string_view text);
/// Whether `text` is the digits 0 and 1 alone, at least one.
[[nodiscard]] bool is_binary(std::string_view text);

/// What is wrong with the digits of a row.
enum class digits_fault { none, digit, bit_behind_last };

/// What to say of it: of `digits`, for `cols` bits, where `expected` were to be there.
[[nodiscard]] std::string text_of(digits_fault fault, std::string_view digits, index_t cols,
                                  std::string_view expected);

/// Sets the bits of an even number of hexadecimal digits in `words`, which are 0: digits 2k and
/// 2k + 1 are the octet of the bits from 8k on, the least significant first. `cols` fill the last
/// octet, but for the bits behind them, which have to be 0.
[[nodiscard]] digits_fault take_hex(std::string_view digits, index_t cols, std::uint32_t* words);
/// Sets the bits of as many digits 0 and 1 in `words`, which are 0.
[[nodiscard]] digits_fault take_binary(std::string_view digits, std::uint32_t* words);

}  // namespace gpu::io
