#pragma once
// Records, fields and separators of the plain reader.

#include <cstddef>
#include <string>
#include <vector>

#include "io/text/text_options.hpp"

namespace gpu_test {

struct reference_record {
  std::size_t line = 0;             // its first
  std::vector<std::string> fields;  // without blanks and quotes around them
  std::vector<bool> quoted;
  bool is_faulty = false;  // a quote is wrong in the field behind the last
  bool is_whole = true;    // no quote is open at its end
};

[[nodiscard]] bool is_reference_blank(char c);
[[nodiscard]] std::string without_blanks(const std::string& text);

/// The records of `text` that are neither blank nor comments; fields are separated by `separator`,
/// ' ' is any blank.
[[nodiscard]] std::vector<reference_record> reference_records(const std::string& text,
                                                              char separator,
                                                              const std::string& comment);

/// The text that tells the layout: a hundred lines, and those that begin in the first megabyte.
[[nodiscard]] std::string reference_head(const std::string& text);

/// The separator of `head`.
[[nodiscard]] char reference_separator(const std::string& head,
                                       const gpu::io::text_options& options);

/// Whether a field is a number in form, or a word for a missing value; not an empty field.
[[nodiscard]] bool is_reference_value(const std::string& field,
                                      const gpu::io::text_options& options);

}  // namespace gpu_test
