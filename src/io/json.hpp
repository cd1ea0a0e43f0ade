#pragma once
// JSON: what the command writes for programs, and reads back of what it wrote.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace gpu::io {

/// A JSON string. A byte that is no UTF-8, as a file name may have, becomes the lone surrogate that
/// Python's surrogateescape means by it.
[[nodiscard]] std::string json_text(std::string_view text);

/// A JSON number in the fewest digits that give the same double; null where it is not finite.
[[nodiscard]] std::string json_number(double value);

class json_value {
 public:
  enum class kind { null, boolean, number, text, array, object };

  /// The whole of `text` as one value; nothing where it is no JSON, or nested too deep.
  [[nodiscard]] static std::optional<json_value> parse(std::string_view text);

  [[nodiscard]] kind type() const noexcept { return kind_; }
  /// A text, or the digits of a number.
  [[nodiscard]] const std::string& text() const noexcept { return text_; }
  /// A number without sign, point and exponent.
  [[nodiscard]] std::optional<std::uint64_t> count() const;
  /// A number: the nearest double.
  [[nodiscard]] std::optional<double> number() const;
  /// Of an array or an object, in order; keys are empty in an array.
  [[nodiscard]] const std::vector<std::pair<std::string, json_value>>& members() const noexcept {
    return members_;
  }
  /// The member `key` of an object; null where there is none.
  [[nodiscard]] const json_value* find(std::string_view key) const;

 private:
  friend class json_parser;
  kind kind_ = kind::null;
  std::string text_;
  std::vector<std::pair<std::string, json_value>> members_;
};

}  // namespace gpu::io
