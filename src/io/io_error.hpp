#pragma once
// What can go wrong with a file, told apart so that the command can choose its exit code.

#include <string>
#include <string_view>

#include <gpu/error.hpp>
#include <gpu/index.hpp>

namespace gpu::io {

/// A place in a text file. Both numbers start at 1; `column` counts fields, row names included;
/// 0 where the whole line, or the whole file, is meant.
struct text_position {
  index_t line = 0;
  index_t column = 0;
};

/// The input cannot be read or is not a table of numbers. The message is
/// `file:line: column c: got '...', expected ...`, as far as each is known.
class input_error : public error {
 public:
  input_error(const std::string& file, text_position where, const std::string& what);
  ~input_error() override;
  [[nodiscard]] const std::string& file() const noexcept { return file_; }
  [[nodiscard]] text_position where() const noexcept { return where_; }

 private:
  std::string file_;
  text_position where_;
};

/// The output cannot be written: no permission, disk full, pipe closed.
class output_error : public std::runtime_error {
 public:
  output_error(const std::string& file, const std::string& what);
  ~output_error() override;
};

/// `text` in quotes, shortened and with unprintable bytes replaced: fit for a message.
[[nodiscard]] std::string quoted(std::string_view text);

/// The message of an errno value.
[[nodiscard]] std::string system_message(int error_number);

}  // namespace gpu::io
