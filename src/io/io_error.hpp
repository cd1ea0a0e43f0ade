#pragma once
// What can go wrong with a file, told apart so that the command can choose its exit code.

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

/// `text` with every control character replaced by '?': fit for a terminal and for one field of a
/// line. Those of Unicode from U+0080 to U+009F, in UTF-8, are control characters too.
[[nodiscard]] std::string printable(std::string_view text);

/// `text` in quotes, shortened and printable: fit for a message.
[[nodiscard]] std::string quoted(std::string_view text);

/// The message of an errno value.
[[nodiscard]] std::string system_message(int error_number);

}  // namespace gpu::io
