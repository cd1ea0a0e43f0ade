#pragma once
// What can go wrong with a file, told apart so that the command can choose its exit code.

#include <cstddef>
#include <string>
#include <string_view>

#include <gpu/error.hpp>
#include <gpu/index.hpp>

namespace gpu::io {

/// A place in an input. In text both numbers start at 1, and `column` counts fields, row names
/// included; 0 where the whole line, or the whole file, is meant. In a .npy both start at 0.
struct input_position {
  index_t line = 0;
  index_t column = 0;
  bool is_in_array = false;  ///< `line` is a row of a .npy.
};

/// The input cannot be read or is not a table of numbers. The message is
/// `file:line: column c: got '...', expected ...`, as far as each is known, or
/// `file: row r, column c: ...` for a .npy.
class input_error : public std::runtime_error, public error {
 public:
  input_error(const std::string& file, input_position where, const std::string& what);
  ~input_error() override;
  [[nodiscard]] const char* what() const noexcept override { return error::what(); }
  [[nodiscard]] const std::string& file() const noexcept { return file_; }
  [[nodiscard]] input_position where() const noexcept { return where_; }

 private:
  std::string file_;
  input_position where_;
};

/// The output cannot be written: no permission, disk full, pipe closed.
class output_error : public std::runtime_error {
 public:
  output_error(const std::string& file, const std::string& what);
  ~output_error() override;
};

/// `text` with every control character replaced by '?': fit for one field of a line. Those of
/// Unicode from U+0080 to U+009F, in UTF-8, are control characters too.
[[nodiscard]] std::string printable(std::string_view text);

/// A character of UTF-8; a byte that is part of none is one of its own.
struct text_character {
  char32_t code = 0;
  std::size_t bytes = 1;
};

/// The character that `text` begins with, which is not empty.
[[nodiscard]] text_character first_character(std::string_view text) noexcept;

/// Whether a terminal obeys the character or shows others in another order because of it: control
/// characters, marks of the direction of writing, and separators of lines and paragraphs.
[[nodiscard]] bool is_hidden(char32_t code) noexcept;

/// `text` with '?' for each hidden character: fit for a message.
[[nodiscard]] std::string visible(std::string_view text);

/// `text` in quotes, shortened and visible: fit for a message.
[[nodiscard]] std::string quoted(std::string_view text);

[[nodiscard]] std::string system_message(int error_number);

}  // namespace gpu::io
