#pragma once
// Which first line and first column of a table are taken for names, as docs/command.md says it,
// from fields that were told apart already.

#include <cstddef>
#include <string>
#include <vector>

namespace gpu_test {

struct reference_field {
  std::string text;
  bool is_quoted = false;
  bool is_number = false;   // in form; no missing value
  bool is_missing = false;  // without text, or a word for it
  bool is_whole = false;    // a number of sign and digits alone
  double number = 0;
};

/// Lines of the sample: the first two with all their fields, others with the first 32.
using reference_lines = std::vector<std::vector<reference_field>>;

[[nodiscard]] bool is_reference_header(const reference_lines& lines);
/// Of the lines behind the header, which is empty where there is none.
[[nodiscard]] bool has_reference_names(const std::vector<reference_field>& header,
                                       const reference_lines& rows);

}  // namespace gpu_test
