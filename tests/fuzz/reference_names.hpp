#pragma once
// Which first line and first column of a table are taken for names, as docs/input_files.md says it,
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

/// `refused`: it can be read in two ways.
enum class reference_answer { values, names, refused };

[[nodiscard]] reference_answer reference_header(const reference_lines& lines, bool rows_are_named);
/// Of the lines behind the header, which is empty where there is none.
[[nodiscard]] reference_answer reference_names(const std::vector<reference_field>& header,
                                               const reference_lines& rows);
/// Whether a column behind the first, other than number `skipped`, has a label of identifiers over
/// whole numbers.
[[nodiscard]] bool has_reference_identifiers(const std::vector<reference_field>& header,
                                             const reference_lines& rows, std::size_t skipped);

}  // namespace gpu_test
