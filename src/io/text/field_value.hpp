#pragma once
// The value of a field: a number, or that one is missing.

#include <string>
#include <string_view>
#include <vector>

#include "io/text/number.hpp"

namespace gpu::io {

/// How values are written.
struct value_rules {
  char decimal = '.';
  std::vector<std::string> missing_words = {};  ///< Beside the usual ones.
  std::vector<double> missing_numbers = {};     ///< Numbers that stand for a missing value.
  /// Whether parse_number() reads every number.
  [[nodiscard]] bool are_plain() const noexcept {
    return decimal == '.' && missing_numbers.empty();
  }
};

/// The rules where `missing` are further words.
[[nodiscard]] value_rules make_value_rules(char decimal, const std::vector<std::string>& missing);

/// A field without text, NA, N/A, null, ".", and what the user adds. NaN is read as a number is.
[[nodiscard]] bool is_missing_word(std::string_view field, const value_rules& rules);

/// Reads `field` whole; a missing value is the real number NaN.
[[nodiscard]] number parse_value(std::string_view field, const value_rules& rules);

}  // namespace gpu::io
